"""Training input of CSV files, boxes, views and folds. Each function takes the module and a folder."""

from __future__ import annotations

import numpy as np

from tests.compat.tensorflow.program_helpers import (
    bytes_feature,
    describe_error,
    describe_spec,
    float_feature,
    int64_feature,
    list_elements,
    to_plain,
    write_examples,
)

TEXTS = ["The cat sat.", "the dog; the CAT ran!", "A bird sings", "dogs ran, cats sat"]


def round_values(value):
    """Round values, because approximations differ in the last digits."""
    found = np.round(np.asarray(value, np.float64), 3) + 0.0
    return to_plain(found)


def csv_file(folder, name, *lines):
    """Write a CSV file."""
    path = f"{folder}/{name}"
    with open(path, "w") as file:
        file.write("\n".join(lines) + "\n")
    return path


def csv_rows(tf, folder):
    """Read batches of named columns, with inferred and given dtypes."""
    make = tf.data.experimental.make_csv_dataset
    csv_file(folder, "a.csv", "x,y,name,label", "1,2.5,foo,0", "2,3,bar,1", "3,,baz,0")
    csv_file(folder, "b.csv", "x,y,name,label", '4,2.5,"fo,o",0', "5,3000000000000,,1")
    once = {"num_epochs": 1, "shuffle": False}
    a, b = f"{folder}/a.csv", f"{folder}/b.csv"
    plain_names = csv_file(folder, "n.txt", "1,2,a", "3,4,b")
    defaults = [tf.int32, tf.float32, tf.string, tf.int32]
    return [
        list_elements(make(a, 2, label_name="label", **once)),
        describe_spec(dict(make(b, 2, **once).element_spec)),
        describe_spec(dict(make(b, 2, shuffle=False).element_spec)),
        list_elements(make(b, 3, shuffle=False).take(2)),
        list_elements(make(f"{folder}/*.csv", 3, **once)),
        list_elements(make(plain_names, 2, header=False, column_names=["a", "b", "c"], **once)),
        list_elements(make(b, 2, select_columns=["x", "label"], label_name="label", **once)),
        list_elements(make(b, 2, select_columns=[0, 2], **once)),
        list_elements(make(a, 1, column_defaults=defaults, ignore_errors=True, **once)),
        list_elements(make(b, 2, na_value="foo", column_defaults=[0, 0.0, "zz", 0], **once)),
        sorted(x for batch in list_elements(make(b, 1, num_epochs=2)) for x in batch["x"]),
        describe_error(lambda: make(plain_names, 2, header=False))[0],
        describe_error(lambda: make(f"{folder}/none.csv", 2))[0],
        describe_error(lambda: make(a, 2, label_name="q", **once))[0],
        describe_error(lambda: make(plain_names, 1, header=False, column_names=["a", "a", "b"]))[0],
        describe_error(lambda: list_elements(make(a, 1, column_defaults=defaults, **once)))[0],
    ]


def padded_boxes(tf, folder):
    """Read boxes in lists of equal length."""
    rng, rows = np.random.RandomState(4), []
    for n in range(1, 4):
        low = rng.rand(n, 2).astype(np.float32) * np.float32(0.5)
        corners = np.concatenate([low, low + np.float32(0.3)], 1)
        columns = {
            key: float_feature(tf, *map(float, corners[:, at]))
            for at, key in enumerate(("ymin", "xmin", "ymax", "xmax"))
        }
        rows.append({**columns, "class": int64_feature(tf, *range(n))})
    path = write_examples(tf, f"{folder}/boxes.tfrecord", rows)
    kinds = {key: tf.io.VarLenFeature(tf.float32) for key in ("ymin", "xmin", "ymax", "xmax")}
    kinds["class"] = tf.io.VarLenFeature(tf.int64)

    def parse(record):
        found = tf.io.parse_single_example(record, kinds)
        corners = [tf.sparse.to_dense(found[key]) for key in ("ymin", "xmin", "ymax", "xmax")]
        boxes, classes = tf.stack(corners, axis=-1), tf.sparse.to_dense(found["class"])
        area = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
        kept = tf.where(area > 0.01)[:, 0]
        boxes, classes = tf.gather(boxes, kept), tf.gather(classes, kept)
        count = tf.shape(boxes)[0]
        boxes = tf.pad(boxes, [[0, 4 - count], [0, 0]])
        return boxes, tf.one_hot(tf.pad(classes, [[0, 4 - count]], constant_values=-1), 3), count

    data = tf.data.TFRecordDataset(path).map(parse).batch(3)
    boxes, scores, counts = next(iter(data))
    return [round_values(boxes), to_plain(scores.numpy()), to_plain(counts.numpy())]


def write_image_examples(tf, folder, count=6):
    """Write a record file of small images, masks and labels."""
    rng = np.random.RandomState(2)
    rows = []
    for n in range(count):
        image = rng.randint(0, 256, (12, 16, 3)).astype(np.uint8)
        mask = (image[..., :1] > 128).astype(np.uint8)
        parts = {"image": image, "mask": mask}
        encoded = {key: bytes_feature(tf, tf.io.encode_png(one).numpy()) for key, one in parts.items()}
        rows.append({**encoded, "label": int64_feature(tf, int(n % 3 == 0))})
    return write_examples(tf, f"{folder}/pictures.tfrecord", rows)


def parsed(tf, record):
    """Return image, mask and label of a record."""
    kinds = {key: tf.io.FixedLenFeature([], tf.string) for key in ("image", "mask")}
    kinds["label"] = tf.io.FixedLenFeature([], tf.int64)
    found = tf.io.parse_single_example(record, kinds)
    image = tf.io.decode_png(found["image"], channels=3)
    return image, tf.io.decode_png(found["mask"], channels=1), found["label"]


def contrastive_views(tf, folder):
    """Create two views of each image with given seeds."""
    data = tf.data.TFRecordDataset(write_image_examples(tf, folder)).map(lambda record: parsed(tf, record))

    def view(image, seed):
        image = tf.image.stateless_random_crop(image, [8, 8, 3], seed)
        image = tf.image.stateless_random_flip_left_right(image, seed)
        return tf.image.stateless_random_brightness(tf.cast(image, tf.float32), 0.2, seed)

    def views(number, parts):
        seed = tf.stack([number, number + 1])
        return view(parts[0], seed), view(parts[0], seed + 10)

    both = data.enumerate().map(views).batch(2, drop_remainder=True)
    first, second = next(iter(both))
    return [describe_spec(both.element_spec), bool(np.any(first.numpy() != second.numpy()))]


def folds(tf, folder):
    """Split into folds by position and by a hash of the name."""
    names = tf.data.Dataset.from_tensor_slices([f"file_{n}" for n in range(12)])
    by_place = [
        (
            list_elements(names.enumerate().filter(lambda n, _, k=k: n % 3 != k).map(lambda _, name: name)),
            list_elements(names.shard(3, k)),
        )
        for k in range(3)
    ]
    by_hash = [
        list_elements(names.filter(lambda name, k=k: tf.strings.to_hash_bucket_fast(name, 3) == k)) for k in range(3)
    ]
    return [to_plain(by_place), by_hash]


def several_inputs(tf, folder):
    """Train and evaluate a model of two inputs with sample weights."""
    rng = np.random.RandomState(0)
    wide, deep = rng.rand(32, 2).astype(np.float32), rng.rand(32, 3).astype(np.float32)
    labels = (wide.sum(1) > deep.sum(1) / 1.5).astype(np.float32)
    weights = np.where(labels > 0, 2.0, 1.0).astype(np.float32)
    data = tf.data.Dataset.from_tensor_slices(({"wide": wide, "deep": deep}, labels, weights)).batch(8)
    norm = tf.keras.layers.Normalization()
    norm.adapt(deep)
    inputs = {"wide": tf.keras.Input((2,), name="wide"), "deep": tf.keras.Input((3,), name="deep")}
    hidden = tf.keras.layers.Dense(4, "relu")(norm(inputs["deep"]))
    out = tf.keras.layers.Dense(1, "sigmoid")(tf.keras.layers.Concatenate()([hidden, inputs["wide"]]))
    model = tf.keras.Model(inputs, out)
    model.compile("adam", "binary_crossentropy", weighted_metrics=["accuracy"])
    history = model.fit(data, epochs=2, verbose=0)
    metric = tf.keras.metrics.Mean()
    for _, y, w in data:
        metric.update_state(np.asarray(y), sample_weight=np.asarray(w))
    mean = np.asarray(norm.mean).reshape(-1)
    return [
        sorted(history.history),
        list(model.predict(data, verbose=0).shape),
        round_values(mean),
        round_values(metric.result()),
    ]


PROGRAMS = {program.__name__: program for program in (csv_rows, padded_boxes, contrastive_views, folds, several_inputs)}
