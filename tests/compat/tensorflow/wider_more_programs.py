"""More programs in the shapes of public ones: views, folds, classes, saved data sets, masks, metrics."""

from __future__ import annotations

import numpy as np

from tests.compat.tensorflow import wider_programs
from tests.compat.tensorflow.data_programs import listed, plain, spelled
from tests.compat.tensorflow.owned_programs import failed
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


def balanced(tf, folder):
    """Classes brought to equal shares, by rejection and by sampling."""
    data = tf.data.Dataset.range(3000).map(lambda x: (x, tf.cast(x % 10 == 0, tf.int32)))
    shares = {}
    for name, options in (("counted", {}), ("given", {"initial_dist": [0.9, 0.1]})):
        found = data.rejection_resample(lambda x, y: y, [0.5, 0.5], seed=3, **options)
        pairs = [(int(kind), int(label)) for kind, (_, label) in found]
        share = float(np.mean([kind for kind, _ in pairs]))
        shares[name] = [all(kind == label for kind, label in pairs), abs(share - 0.5) < 0.1, len(pairs) > 400]
    one = data.filter(lambda x, y: y == 1).repeat()
    none = data.filter(lambda x, y: y == 0).repeat()
    sampled = tf.data.Dataset.sample_from_datasets([one, none], [0.5, 0.5], seed=1).take(400)
    share = float(np.mean([int(y) for _, y in sampled]))
    older = data.take(30).apply(tf.data.experimental.rejection_resample(lambda x, y: y, [1.0, 0.0]))
    return [shares, abs(share - 0.5) < 0.1, sorted({int(kind) for kind, _ in older}), spelled(older.element_spec)]


def kept_elements(tf, folder):
    """Elements saved, loaded, taken by shard, and in snapshots."""
    d = tf.data.Dataset
    data = d.range(5).map(lambda x: {"a": x, "b": (tf.cast(x, tf.float32) / 2, tf.strings.as_string(x))})
    data.save(f"{folder}/one")
    loaded = d.load(f"{folder}/one")
    data.save(f"{folder}/two", compression="GZIP", shard_func=lambda x: x["a"] % 2)
    turned = d.load(f"{folder}/two", compression="GZIP", reader_func=lambda shards: shards.flat_map(lambda one: one))
    rows = d.from_tensor_slices(tf.ragged.constant([[1, 2], [], [3]]))
    rows.save(f"{folder}/rows")
    sparse = d.from_tensors(tf.sparse.from_dense([[0, 1], [2, 0]]))
    tf.data.experimental.save(sparse, f"{folder}/sparse")
    again = tf.data.experimental.load(f"{folder}/sparse")
    snapshots = [listed(data.snapshot(f"{folder}/shot")) for _ in range(2)]
    first = listed(loaded)
    data.take(2).save(f"{folder}/one")
    d.range(0).save(f"{folder}/none")
    return [
        *(first, int(loaded.cardinality()), spelled(dict(sorted(loaded.element_spec.items())))),
        *(sorted(one["a"] for one in listed(turned)), snapshots, listed(d.load(f"{folder}/none"))),
        [plain(one.numpy()) for one in d.load(f"{folder}/rows")],
        [plain(tf.sparse.to_dense(one).numpy()) for one in again],
        listed(d.load(f"{folder}/one")),
        failed(lambda: d.load(f"{folder}/nowhere"))[0],
    ]


def given_lists(tf, folder):
    """Elements of lists, of several lengths and forms."""
    from_list = tf.data.experimental.from_list
    return [
        listed(from_list([(1, "a"), (2, "b")])),
        listed(from_list([{"a": [1, 2]}, {"a": [3, 4]}])),
        listed(from_list([[1, 2], [3]]).padded_batch(2)),
        spelled(from_list([[1, 2], [3]]).element_spec),
        int(from_list([1, 2, 3]).cardinality()),
        failed(lambda: from_list([])),
        failed(lambda: from_list((1, 2))),
    ]


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


PROGRAMS = wider_programs.PROGRAMS | {
    one.__name__: one for one in (contrastive_views, folds, balanced, kept_elements, given_lists, several_inputs)
}
