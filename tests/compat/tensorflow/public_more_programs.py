"""More of what public programs do with record files: numbers, rows, sentences, and what they print."""

from __future__ import annotations

import numpy as np

from tests.compat.tensorflow import public_choice_programs, public_programs
from tests.compat.tensorflow.data_programs import listed, spelled
from tests.compat.tensorflow.owned_programs import failed
from tests.compat.tensorflow.public_programs import bytes_of, floats, ints, write


def tokens(tf, folder):
    """Numbers for a language model: as bytes, and as lists of any length."""
    raw = [{"tokens": bytes_of(tf, np.arange(n * 5, n * 5 + 5, dtype=np.uint16).tobytes())} for n in range(4)]
    path = write(tf, f"{folder}/raw.tfrecord", raw)

    def decode(proto):
        found = tf.io.parse_single_example(proto, {"tokens": tf.io.FixedLenFeature([], tf.string)})
        return tf.io.decode_raw(found["tokens"], tf.uint16)

    stream = tf.data.TFRecordDataset(path).map(decode).unbatch().batch(5, drop_remainder=True)
    stream = stream.map(lambda x: (x[:-1], x[1:])).batch(2, drop_remainder=True)
    lists = [{"input_ids": ints(tf, *range(n)), "labels": ints(tf, *range(n, 2 * n))} for n in range(1, 5)]
    write(tf, f"{folder}/lists.tfrecord", lists)

    def parse(proto):
        kinds = {key: tf.io.VarLenFeature(tf.int64) for key in ("input_ids", "labels")}
        example = tf.io.parse_single_example(proto, kinds)
        for name in list(example.keys()):
            t = example[name]
            if t.dtype == tf.int64:
                t = tf.cast(t, dtype=tf.int32)
            example[name] = tf.sparse.to_dense(t, default_value=0)
        return example

    padded = tf.data.TFRecordDataset(f"{folder}/lists.tfrecord").map(parse, num_parallel_calls=tf.data.AUTOTUNE)
    padded = padded.padded_batch(
        2,
        padded_shapes={"input_ids": 6, "labels": 6},
        padding_values={"input_ids": 0, "labels": -1},
        drop_remainder=True,
    )
    return [listed(stream), listed(padded), spelled(padded.element_spec)]


def tables(tf, folder):
    """Rows that are parsed a batch at a time, and one by one with an axis in front."""
    rows = [
        {"size": ints(tf, n), "parts": floats(tf, *([0.5] * n)), "name": bytes_of(tf, b"row %d" % n)} for n in range(5)
    ]
    path = write(tf, f"{folder}/rows.tfrecord", rows)
    kinds = {
        "size": tf.io.FixedLenFeature([1], tf.int64),
        "parts": tf.io.VarLenFeature(tf.float32),
        "name": tf.io.FixedLenFeature((), tf.string, default_value=""),
        "lost": tf.io.FixedLenFeature((), tf.float32, default_value=2.5),
    }

    def batched(records):
        found = tf.io.parse_example(records, kinds)
        found["parts"] = tf.sparse.to_dense(found["parts"])
        size = found.pop("size")
        return found, size

    def single(record):
        return tf.io.parse_example(record[tf.newaxis], {"name": kinds["name"]})["name"][0]

    data = tf.data.TFRecordDataset(path)
    turned = (
        data.batch(3)
        .map(batched)
        .map(lambda x, y: (x["name"], tf.transpose(tf.concat([x["parts"], tf.cast(y, tf.float32)], 1))))
    )
    features = tf.data.experimental.make_batched_features_dataset(
        path, 2, {"size": kinds["size"]}, num_epochs=1, shuffle=False, drop_final_batch=False
    )
    return [
        listed(turned),
        listed(data.map(single)),
        listed(features),
        failed(
            lambda: list(
                data.map(lambda one: tf.io.parse_single_example(one, {"no": tf.io.FixedLenFeature([], tf.int64)}))
            )
        )[0],
    ]


def sentences(tf, folder):
    """Lines of words as numbers, batched by length."""
    with open(f"{folder}/lines.txt", "w") as file:
        file.write("1 2 3\n4 5\n6\n7 8 9 10 11\n12 13\n\n14 15 16 17 18 19 20\n")
    lines = tf.data.TextLineDataset(f"{folder}/lines.txt").filter(lambda one: tf.strings.length(one) > 0)

    def numbers(line):
        found = tf.strings.to_number(tf.strings.split(line, sep=" "), tf.int32)
        return found, tf.concat([[0], found * 10], axis=0)

    data = lines.map(numbers).filter(lambda a, b: tf.logical_and(tf.size(a) <= 6, tf.size(b) <= 6))
    buckets = data.bucket_by_sequence_length(
        element_length_func=lambda a, b: tf.maximum(tf.size(a), tf.size(b)),
        bucket_boundaries=[4, 7],
        bucket_batch_sizes=[2, 2, 1],
        padded_shapes=([None], [None]),
        padding_values=(0, -1),
        pad_to_bucket_boundary=True,
    )
    plainly = data.apply(
        tf.data.experimental.bucket_by_sequence_length(
            lambda a, b: tf.shape(a)[0], [2, 4], [1, 2, 2], drop_remainder=True
        )
    )
    grouped = data.group_by_window(
        key_func=lambda a, b: tf.cast(tf.shape(a)[0], tf.int64) // 2,
        reduce_func=lambda key, window: window.padded_batch(2, padded_shapes=([None], [None])),
        window_size=2,
    )
    split = buckets.map(lambda a, b: ((a, b[:, :-1]), b[:, 1:]))
    return [listed(one) for one in (buckets, plainly, grouped, split)]


def older(tf, folder):
    """Names of ``tf.data.experimental`` that were given up since."""
    rows = [{"x": ints(tf, n)} for n in range(6)]
    names = [write(tf, f"{folder}/{part}.tfrecord", rows[part * 3 : part * 3 + 3]) for part in range(2)]
    kinds, again = {"x": tf.io.FixedLenFeature([], tf.int64)}, tf.data.experimental
    files = tf.data.Dataset.from_tensor_slices(names)
    read = files.apply(again.parallel_interleave(tf.data.TFRecordDataset, cycle_length=2, sloppy=False))
    parsed = read.apply(
        again.map_and_batch(lambda one: tf.io.parse_single_example(one, kinds)["x"], 4, drop_remainder=True)
    )
    repeated = tf.data.Dataset.range(3).apply(again.shuffle_and_repeat(3, 2))
    chosen = again.choose_from_datasets(
        [tf.data.Dataset.range(3), tf.data.Dataset.range(10, 13)], tf.data.Dataset.range(100).map(lambda x: x % 2)
    )
    return [
        listed(parsed),
        sorted(listed(repeated)),
        listed(chosen)[:6],
        listed(parsed.apply(again.unbatch())),
    ]


def printed(tf, folder):
    """What a look at a file prints."""
    rows = [{"x": ints(tf, *range(n))} for n in (1, 3)]
    data = tf.data.TFRecordDataset(write(tf, f"{folder}/a.tfrecord", rows))
    kinds = {"x": tf.io.VarLenFeature(tf.int64)}
    parsed = data.map(lambda one: tf.io.parse_single_example(one, kinds))
    values = tf.data.Dataset.from_tensor_slices([1.5, 2.0])
    shown = [data, parsed, parsed.batch(2).prefetch(1), values, values.shuffle(2).repeat(), kinds, parsed.element_spec]
    shown += [*data, *parsed, next(iter(data.batch(2))), tf.train.Example.FromString(next(iter(data)).numpy())]
    shown += [data.cardinality(), tf.constant([[1, 2], [3, 4]]), tf.TensorShape([None, 3]), tf.float32, None]
    return [[str(one), repr(one)] for one in shown[:-1]]


PROGRAMS = {
    **public_programs.PROGRAMS,
    **public_choice_programs.PROGRAMS,
    **{one.__name__: one for one in (tokens, tables, sentences, older, printed)},
}
