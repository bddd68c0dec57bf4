"""Programs like those of guides. Each function takes the module and a folder, and returns types of JSON."""

from __future__ import annotations

import numpy as np

from tests.compat.tensorflow.program_helpers import (
    bytes_feature,
    float_feature,
    int64_feature,
    to_plain,
    write_examples,
)

IMAGES = np.random.RandomState(0).randint(0, 255, (6, 8, 8, 3)).astype(np.uint8)


def round_values(tensor):
    return to_plain(np.round(np.asarray(tensor.numpy(), np.float64), 3))


def mixed_up(tf, folder):
    """Mix views with random numbers of the beta distribution, computed from two gamma distributions."""

    def share(count):
        one, other = (tf.random.gamma(shape=[count], alpha=[0.25]) for _ in range(2))
        return one / (one + other)

    def mix(first, second):
        (a, x), (b, y) = first, second
        part = share(tf.shape(a)[0])
        image_part, label_part = tf.reshape(part, [-1, 1, 1, 1]), tf.reshape(part, [-1, 1])
        return a * image_part + b * (1 - image_part), x * label_part + y * (1 - label_part)

    images, labels = IMAGES.astype(np.float32), np.eye(3, dtype=np.float32)[np.arange(6) % 3]
    halves = [tf.data.Dataset.from_tensor_slices((images, labels)).shuffle(6).batch(4) for _ in range(2)]
    mixed = tf.data.Dataset.zip(tuple(halves)).map(mix, num_parallel_calls=tf.data.AUTOTUNE)
    return [[x.shape.as_list(), x.dtype.name, round_values(tf.reduce_sum(y, axis=1))] for x, y in mixed]


def graph_of_its_own(tf, folder):
    """Read batches in a graph, as in TensorFlow 1."""
    path = write_examples(tf, f"{folder}/a.tfrecord", [{"label": int64_feature(tf, n)} for n in range(5)])
    v1, found = tf.compat.v1, []

    def parse(record):
        return v1.parse_single_example(record, {"label": v1.FixedLenFeature([], tf.int64)})["label"]

    with tf.Graph().as_default():
        batch = v1.data.make_one_shot_iterator(v1.data.TFRecordDataset([path]).map(parse).batch(2)).get_next()
        with v1.Session() as session:
            while True:
                try:
                    found.append(session.run(batch).tolist())
                except tf.errors.OutOfRangeError:
                    return [found, tf.executing_eagerly()]


def patches(tf, folder):
    """Collect patches of images and windows of rows in tensor arrays."""

    def cut(image):
        found = tf.TensorArray(tf.uint8, size=0, dynamic_size=True)
        for place in range(4):
            row, column = place // 2 * 4, place % 2 * 4
            found = found.write(place, image[row : row + 4, column : column + 4])
        return found.stack()

    def sums(row):
        found = tf.TensorArray(tf.int64, size=tf.shape(row)[0])
        for place in tf.range(tf.shape(row)[0]):
            found = found.write(place, tf.reduce_sum(row[: place + 1]))
        return found.stack()

    pieces = tf.data.Dataset.from_tensor_slices(IMAGES).map(cut).batch(3)
    return [
        [[one.shape.as_list(), int(tf.reduce_sum(tf.cast(one[:, 1], tf.int32)))] for one in pieces],
        [to_plain(one.numpy()) for one in tf.data.Dataset.from_tensor_slices(np.arange(6).reshape(2, 3)).map(sums)],
    ]


def measured_reading(tf, folder):
    """Create a dataset from a generator in a class, and split batches into windows."""

    class Numbers(tf.data.Dataset):
        def _generator(count):  # noqa: N805 (as the programs write it)
            yield from ((number,) for number in range(count))

        def __new__(cls, count=3):
            signature = tf.TensorSpec(shape=(1,), dtype=tf.int64)
            return tf.data.Dataset.from_generator(cls._generator, output_signature=signature, args=(count,))

    rows = tf.data.Dataset.from_tensor_slices(np.arange(60, dtype=np.float32).reshape(5, 4, 3)).batch(2)
    windows = rows.map(lambda x: (x[:, :3, :], tf.stack([x[:, 3:, 1]], axis=-1)))
    return [
        [to_plain(one.numpy()) for one in Numbers(2).prefetch(tf.data.AUTOTUNE)],
        [one.shape.as_list() for one in windows.element_spec],
        [round_values(y) for _, y in windows],
    ]


def boxes_of_any_number(tf, folder):
    """Read boxes as ragged rows, and their names from a CSV file."""
    boxes = tf.ragged.constant([[[0.0, 0, 1, 1], [0, 0, 1.1, 0.9]], [[2.0, 2, 3, 3]]], ragged_rank=1)
    with open(f"{folder}/names.csv", "w") as file:
        file.write('number,name\n1,"two\nlines"\n2,one\n')
    names = tf.data.experimental.CsvDataset(f"{folder}/names.csv", [tf.int32, tf.string], header=True)
    return [
        [to_plain([one.numpy() for one in row]) for row in names],
        [str(boxes), boxes.shape.as_list()],
    ]


def packed_records(tf, folder):
    """Read compressed features with class weights."""
    import zlib

    rows = [
        {"x": bytes_feature(tf, zlib.compress(IMAGES[n].tobytes())), "y": float_feature(tf, n / 2)} for n in range(4)
    ]
    kinds = {"x": tf.io.FixedLenFeature([], tf.string), "y": tf.io.FixedLenFeature([], tf.float32)}

    def parse(record):
        found = tf.io.parse_single_example(record, kinds)
        raw = tf.io.decode_compressed(found["x"], "ZLIB")
        return tf.reshape(tf.io.decode_raw(raw, tf.uint8), IMAGES.shape[1:]), found["y"]

    data = tf.data.TFRecordDataset(write_examples(tf, f"{folder}/a.tfrecord", rows)).map(parse).batch(3)
    return [[x.shape.as_list(), int(tf.reduce_sum(tf.cast(x, tf.int32))), round_values(y)] for x, y in data]


PROGRAMS = {
    one.__name__: one
    for one in (
        *(mixed_up, graph_of_its_own, patches, measured_reading),
        *(boxes_of_any_number, packed_records),
    )
}
