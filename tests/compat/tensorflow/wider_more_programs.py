"""More programs in the shapes of public ones: views, folds, classes, saved data sets, masks, metrics."""

from __future__ import annotations

import numpy as np

from tests.compat.tensorflow import wider_programs
from tests.compat.tensorflow.data_programs import listed, plain, spelled
from tests.compat.tensorflow.public_programs import bytes_of, ints, write
from tests.compat.tensorflow.wider_programs import rounded


def pictures(tf, folder, count=6):
    """A record file of small pictures, masks and labels."""
    rng = np.random.RandomState(2)
    rows = []
    for n in range(count):
        image = rng.randint(0, 256, (12, 16, 3)).astype(np.uint8)
        mask = (image[..., :1] > 128).astype(np.uint8)
        parts = {"image": image, "mask": mask}
        encoded = {key: bytes_of(tf, tf.io.encode_png(one).numpy()) for key, one in parts.items()}
        rows.append({**encoded, "label": ints(tf, int(n % 3 == 0))})
    return write(tf, f"{folder}/pictures.tfrecord", rows)


def parsed(tf, record):
    """Picture, mask and label of a record."""
    kinds = {key: tf.io.FixedLenFeature([], tf.string) for key in ("image", "mask")}
    kinds["label"] = tf.io.FixedLenFeature([], tf.int64)
    found = tf.io.parse_single_example(record, kinds)
    image = tf.io.decode_png(found["image"], channels=3)
    return image, tf.io.decode_png(found["mask"], channels=1), found["label"]


def contrastive_views(tf, folder):
    """Two views of each picture, drawn by seeds that are given."""
    data = tf.data.TFRecordDataset(pictures(tf, folder)).map(lambda record: parsed(tf, record))

    def view(image, seed):
        image = tf.image.stateless_random_crop(image, [8, 8, 3], seed)
        image = tf.image.stateless_random_flip_left_right(image, seed)
        return tf.image.stateless_random_brightness(tf.cast(image, tf.float32), 0.2, seed)

    def views(number, parts):
        seed = tf.stack([number, number + 1])
        return view(parts[0], seed), view(parts[0], seed + 10)

    both = data.enumerate().map(views).batch(2, drop_remainder=True)
    first, second = next(iter(both))
    return [spelled(both.element_spec), bool(np.any(first.numpy() != second.numpy()))]


def folds(tf, folder):
    """Folds by the position and by a hash of the name."""
    names = tf.data.Dataset.from_tensor_slices([f"file_{n}" for n in range(12)])
    by_place = [
        (
            listed(names.enumerate().filter(lambda n, _, k=k: n % 3 != k).map(lambda _, name: name)),
            listed(names.shard(3, k)),
        )
        for k in range(3)
    ]
    by_hash = [listed(names.filter(lambda name, k=k: tf.strings.to_hash_bucket_fast(name, 3) == k)) for k in range(3)]
    return [plain(by_place), by_hash]


def several_inputs(tf, folder):
    """A model of two inputs trained with weights of samples, and measured."""
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
        rounded(mean),
        rounded(metric.result()),
    ]


PROGRAMS = wider_programs.PROGRAMS | {one.__name__: one for one in (contrastive_views, folds, several_inputs)}
