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


def segmentation(tf, folder):
    """Pictures and masks, flipped together, with the share of each class and how alike neighbours are."""
    data = tf.data.TFRecordDataset(pictures(tf, folder)).map(lambda record: parsed(tf, record))

    def prepared(image, mask, label):
        image = tf.image.convert_image_dtype(image, tf.float32)
        turn = tf.equal(label, 1)
        image = tf.cond(turn, lambda: tf.image.flip_left_right(image), lambda: image)
        mask = tf.cond(turn, lambda: tf.image.flip_left_right(mask), lambda: mask)
        shares = tf.math.bincount(tf.cast(tf.reshape(mask, [-1]), tf.int32), minlength=2, maxlength=2)
        weights = tf.gather(tf.constant([0.25, 1.0]), tf.cast(mask, tf.int32))
        return image, tf.squeeze(mask, -1), tf.cast(shares, tf.float32) / 192.0, tf.reduce_sum(weights)

    batches = data.map(prepared).batch(3)
    first = next(iter(batches))
    similar = tf.image.ssim(first[0][:2], first[0][1:3], 1.0, filter_size=7)
    return [spelled(batches.element_spec)[0], [plain(one.numpy()) for one in first[1:]], rounded(similar)]


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
    psnr = tf.image.psnr(first, second, 255.0)
    return [spelled(both.element_spec), plain(psnr.shape.as_list()), bool(np.any(first.numpy() != second.numpy()))]


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
    left, right = tf.keras.utils.split_dataset(tf.data.Dataset.range(10).map(lambda x: (x, x * 2)).batch(4), 0.6)
    arrays = tf.keras.utils.split_dataset((np.arange(6), np.arange(6) * 2), right_size=2)
    return [
        *(plain(by_place), by_hash, listed(left), listed(right), spelled(left.element_spec)),
        [listed(one) for one in arrays],
        failed(lambda: tf.keras.utils.split_dataset(tf.data.Dataset.range(3), left_size=30)),
    ]


def counted_words(tf, folder):
    """A vocabulary that is counted in a table while words pass."""
    table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, 0)
    words = tf.data.Dataset.from_tensor_slices(["a", "b", "a", "c", "b", "a"])
    for word in words:
        table.insert(word, table.lookup(word) + 1)
    keys, values = table.export()
    found = sorted(zip(plain(keys.numpy()), plain(values.numpy()), strict=True))
    lookup = tf.keras.layers.StringLookup(max_tokens=3)
    lookup.adapt(words.batch(2))
    numbers = tf.keras.layers.IntegerLookup(vocabulary=[5, 7], num_oov_indices=2)
    back = tf.keras.layers.StringLookup(vocabulary=lookup.get_vocabulary(), invert=True)
    return [
        found,
        lookup.get_vocabulary(),
        listed(words.map(lookup)),
        listed(tf.data.Dataset.from_tensor_slices([5, 7, 8, 9]).batch(2).map(numbers)),
        plain(back(tf.constant([0, 1, 2])).numpy()),
    ]


def ragged_histories(tf, folder):
    """Histories of different lengths: weighted, averaged, cut and joined."""
    items = tf.ragged.constant([[1, 2, 3], [], [4, 5]])
    prices = tf.ragged.constant([[1.0, 2.0, 3.0], [], [4.0, 5.0]])
    scaled = prices * 0.5 + tf.constant([[1.0], [2.0], [3.0]])
    last = items[:, -2:]
    joined = tf.concat([last, tf.ones([3, 1], tf.int32) * 9], axis=1)
    counts = tf.reduce_sum(tf.cast(prices > 1.5, tf.int32), axis=1)
    means = tf.math.divide_no_nan(tf.reduce_sum(prices, 1), tf.cast(prices.row_lengths(), tf.float32))
    masked = tf.ragged.boolean_mask(items, prices > 1.5)
    data = tf.data.Dataset.from_tensor_slices({"items": items, "prices": prices}).batch(2)
    sums = data.map(lambda x: (tf.reduce_max(x["prices"] * 2.0, axis=1), x["items"].to_tensor() + 1))
    embedded = tf.gather(tf.constant([[0.0, 1.0]] * 6), items)
    return [
        *(one.to_list() for one in (scaled, last, joined, masked)),
        *(plain(one.numpy()) for one in (counts, means, tf.reduce_sum(embedded, axis=1))),
        listed(sums.take(1)),
    ]


def several_inputs(tf, folder):
    """A model of two inputs trained with weights of samples, and measured."""
    rng = np.random.RandomState(0)
    wide, deep = rng.rand(32, 2).astype(np.float32), rng.rand(32, 3).astype(np.float32)
    labels = (wide.sum(1) > deep.sum(1) / 1.5).astype(np.float32)
    weights = np.where(labels > 0, 2.0, 1.0).astype(np.float32)
    data = tf.data.Dataset.from_tensor_slices(({"wide": wide, "deep": deep}, labels, weights)).batch(8)
    norm = tf.keras.layers.Normalization()
    norm.adapt(data.map(lambda x, y, w: x["deep"]))
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


def older_words(tf, folder):
    """TensorFlow 1's names for words as numbers, in an iterator of the older kind."""
    v1 = tf.compat.v1
    words = tf.data.Dataset.from_tensor_slices(["a b", "c"])
    numbers = words.map(lambda line: v1.string_to_hash_bucket_fast(tf.strings.split(line), 100))
    found = [plain(one.numpy()) for one in v1.data.make_one_shot_iterator(numbers)]
    return [found, plain(v1.segment_sum(tf.constant([1, 2, 3]), tf.constant([0, 0, 1])).numpy())]


PROGRAMS = wider_programs.PROGRAMS | {
    one.__name__: one
    for one in (
        *(segmentation, contrastive_views, folds, counted_words),
        *(ragged_histories, several_inputs, older_words),
    )
}
