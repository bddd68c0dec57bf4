"""Pipelines of tf.data. Each function takes the module and a folder, and returns types of JSON."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tests.compat.tensorflow.program_helpers import describe_spec, list_elements, to_plain


class Point(NamedTuple):
    x: object
    y: object


def orders(tf, folder):
    d, rows = tf.data.Dataset, {}
    rows["repeat, batch"] = list_elements(d.range(5).repeat(2).batch(4))
    rows["batch, repeat"] = list_elements(d.range(5).batch(4).repeat(2))
    rows["batch, dropped"] = list_elements(d.range(10).batch(4, drop_remainder=True))
    rows["repeat nothing"] = [list_elements(d.range(5).repeat(0)), list_elements(d.range(0).repeat())]
    rows["shuffled by one"] = list_elements(d.range(6).shuffle(1))
    rows["take, skip"] = [list_elements(d.range(6).take(n)) + list_elements(d.range(6).skip(n)) for n in (-1, 0, 2, 9)]
    rows["shards"] = [list_elements(d.range(7).shard(3, n)) for n in range(3)]
    rows["concatenated"] = list_elements(d.range(3).concatenate(d.range(5, 7)))
    rows["enumerated"] = list_elements(d.range(3).enumerate(7))
    rows["ranges"] = [list_elements(d.range(3)), list_elements(d.range(2, 5)), list_elements(d.range(10, 0, -3))]
    rows["windows"] = [
        [list_elements(one) for one in d.range(7).window(size, shift, stride, drop)]
        for size, shift, stride, drop in ((3, 2, 2, False), (3, None, 1, True), (2, 4, 1, False), (2, 1, 3, True))
    ]
    rows["grouped"] = list_elements(
        d.range(10).group_by_window(lambda x: x % 2, lambda key, window: window.batch(3), 3)
    )
    return rows


def interleaved(tf, folder):
    def tens(n):
        return tf.data.Dataset.range(10 * n, 10 * n + n)

    sizes = [(cycle, block) for cycle in (1, 2, 3, 5, 7) for block in (1, 2, 3)]
    made = tf.data.Dataset.range(1, 5)
    rows = {f"{c}, {b}": list_elements(made.interleave(tens, cycle_length=c, block_length=b)) for c, b in sizes}
    rows["flat"] = list_elements(made.flat_map(tens))
    rows["with an empty one"] = list_elements(tf.data.Dataset.range(4).interleave(tens, cycle_length=2, block_length=2))
    rows["parallel"] = list_elements(made.interleave(tens, cycle_length=2, block_length=1, num_parallel_calls=2))
    chosen = [tf.data.Dataset.range(3), tf.data.Dataset.range(10, 13)]
    choices = tf.data.Dataset.from_tensor_slices(np.array([0, 1, 1, 0, 0, 0, 1]))
    rows["chosen"] = list_elements(tf.data.Dataset.choose_from_datasets(chosen, choices))
    rows["chosen to the end"] = list_elements(
        tf.data.Dataset.choose_from_datasets(chosen, choices, stop_on_empty_dataset=False)
    )
    return rows


def structures(tf, folder):
    d, rows = tf.data.Dataset, {}
    rows["dict"] = list_elements(d.from_tensor_slices({"b": [1, 2], "a": ["x", "y"]}))
    rows["tuple"] = list_elements(d.from_tensor_slices(([1, 2], [[1.5], [2.5]])))
    rows["named"] = list_elements(d.from_tensor_slices(Point([1, 2], [3, 4])).map(lambda p: Point(p.x, p.y + 1)))
    rows["list"] = describe_spec(d.range(2).map(lambda x: [x, x]).element_spec)
    rows["zip"] = list_elements(d.zip((d.range(3), d.range(4).batch(2))))
    rows["zip of two"] = list_elements(d.zip({"a": d.range(3), "b": (d.range(2), d.range(9))}))
    rows["whole"] = list_elements(d.from_tensors(([1, 2], "x")))
    rows["unbatched"] = list_elements(d.from_tensors(([1, 2], ["x", "y"])).unbatch())
    specs = [d.range(4), d.range(4).batch(2), d.range(4).batch(2, drop_remainder=True), d.range(4).batch(2).unbatch()]
    specs += [d.range(2, output_type=tf.float32), d.zip((d.range(3), d.range(4).batch(2))), d.range(3).enumerate()]
    specs += [d.from_generator(lambda: iter([1]), output_types=tf.int32), d.from_tensor_slices({"a": [[1.0, 2.0]]})]
    specs += [d.range(4).map(lambda x: {"a": tf.cast(x, tf.float32) / 2, "b": (x, x * 2)})]
    rows["specs"] = [describe_spec(one.element_spec) for one in specs]
    return rows


def functions(tf, folder):
    d, rows = tf.data.Dataset, {}
    rows["mapped"] = list_elements(d.range(5).map(lambda x: (x, x * x), num_parallel_calls=2))
    rows["filtered"] = list_elements(d.range(9).filter(lambda x: x % 3 > 0))
    rows["reduced"] = to_plain(d.range(5).reduce(np.int64(0), lambda s, x: s + x).numpy())
    rows["reduced to a pair"] = to_plain(
        [one.numpy() for one in d.range(5).reduce((np.int64(0), np.int64(1)), lambda s, x: (s[0] + x, s[1] * (x + 1)))]
    )
    rows["padded"] = list_elements(d.range(1, 6).map(lambda x: tf.fill([x], x)).padded_batch(2))
    rows["padded to"] = list_elements(
        d.range(1, 4).map(lambda x: tf.fill([x], x)).padded_batch(2, [5], np.int64(-1), drop_remainder=True)
    )
    rows["padded pair"] = list_elements(
        d.range(1, 4).map(lambda x: (x, tf.fill([x, 2], 0.5))).padded_batch(3, ([], [None, 3]), (np.int64(0), 9.0))
    )
    rows["generated"] = list_elements(
        d.from_generator(lambda a, b: iter(range(a, b)), args=(1, 4), output_types=tf.int64)
    )
    signature = (tf.TensorSpec([], tf.int64), tf.TensorSpec([None], tf.float32))
    rows["signed"] = list_elements(
        d.from_generator(lambda: iter([(1, [1.0]), (2, [1.0, 2.0])]), output_signature=signature)
    )
    bad = d.range(7).map(lambda x: tf.debugging.check_numerics(1.0 / (tf.cast(x, tf.float32) - 2.0), "bad"))
    rows["errors ignored"] = [list_elements(bad.ignore_errors()), list_elements(bad.batch(2).ignore_errors())]
    rows["applied"] = list_elements(d.range(3).apply(lambda one: one.map(lambda x: x + 1)))
    return rows


def files(tf, folder):
    d, rows = tf.data.Dataset, {}
    paths = [f"{folder}/{name}.tfrecord" for name in "abc"]
    for number, path in enumerate(paths):
        with tf.io.TFRecordWriter(path) as writer:
            for record in range(number * 2 + 1):
                writer.write(f"{number}{record}".encode())
    rows["in turn"] = list_elements(tf.data.TFRecordDataset(paths))
    rows["parallel"] = [list_elements(tf.data.TFRecordDataset(paths, num_parallel_reads=n)) for n in (1, 2, 3, 8)]
    rows["listed"] = [
        name.rpartition("/")[2] for name in list_elements(d.list_files(f"{folder}/*.tfrecord", shuffle=False))
    ]
    rows["shuffled list"] = sorted(
        one.rpartition("/")[2] for one in list_elements(d.list_files(f"{folder}/*.tfrecord", seed=3))
    )
    rows["interleaved"] = list_elements(
        d.list_files(f"{folder}/*.tfrecord", shuffle=False).interleave(tf.data.TFRecordDataset, cycle_length=2)
    )
    rows["of a data set"] = list_elements(tf.data.TFRecordDataset(d.from_tensor_slices(paths[1:])))
    with open(f"{folder}/lines.txt", "wb") as file:
        file.write(b"ab\r\ncd\n\nxyz")
    rows["lines"] = list_elements(tf.data.TextLineDataset(f"{folder}/lines.txt"))
    return rows


def cardinalities(tf, folder):
    d = tf.data.Dataset
    some = d.range(5)
    unknown = some.filter(lambda x: x > 0)
    made = [some.batch(2), some.batch(2, drop_remainder=True), some.repeat(), d.range(0).repeat(), some.repeat(0)]
    made += [some.take(-1), some.repeat().take(3), unknown.take(3), some.shard(3, 1), unknown.repeat(), some.cache()]
    made += [some.interleave(lambda x: some), some.flat_map(lambda x: some)]
    made += [d.zip((some, d.range(3).repeat())), some.concatenate(d.range(2)), some.concatenate(unknown), some.skip(9)]
    made += [some.window(2), some.window(2, drop_remainder=True), some.ignore_errors(), some.batch(2).unbatch()]
    made += [some.batch(5, drop_remainder=True).unbatch(), tf.data.TFRecordDataset("x"), some.skip(2), some.skip(-1)]
    made += [some.prefetch(2), some.enumerate(), some.shuffle(2)]
    made += [d.range(7).window(3, 2, 2), d.range(7).window(3, 2, 2, True), d.from_tensors(1)]
    made += [d.from_generator(lambda: iter([1]), output_types=tf.int64), d.zip((some, unknown)), some.repeat(3)]
    return [int(one.cardinality()) for one in made]


def catch_error(run):
    """Return the class, the first line and the type of the error that a function raises."""
    try:
        run()
    except Exception as error:  # noqa: BLE001 (any error is recorded)
        text = str(error).strip().splitlines()[0]
        return [type(error).__name__, text.split("device:CPU:0}} ")[-1].split(" [Op:")[0], type(error)]
    return None


def errors(tf, folder):
    d = tf.data.Dataset
    some = d.range(4)
    one = tf.TensorSpec([], tf.int64)
    ragged = d.from_generator(lambda: iter([[1], [1, 2]]), output_signature=tf.TensorSpec([None], tf.int64))
    tens = some.map(lambda x: tf.fill([x], x))
    runs = {
        "scalar slices": lambda: d.from_tensor_slices(3),
        "lengths": lambda: d.from_tensor_slices(([1, 2], [1, 2, 3])),
        "batch 0": lambda: some.batch(0),
        "shuffle 0": lambda: some.shuffle(0),
        "prefetch -2": lambda: some.prefetch(-2),
        "shard 3": lambda: some.shard(3, 3),
        "shard -1": lambda: some.shard(3, -1),
        "shards 0": lambda: some.shard(0, 0),
        "range step": lambda: d.range(1, 5, 0),
        "len infinite": lambda: len(some.repeat()),
        "len unknown": lambda: len(some.filter(lambda x: x > 1)),
        "batch of shapes": lambda: list_elements(ragged.batch(2)),
        "no signature": lambda: d.from_generator(lambda: iter([1])),
        "no generator": lambda: d.from_generator([1], output_types=tf.int64),
        "two signatures": lambda: d.from_generator(lambda: iter([1]), output_types=tf.int64, output_signature=one),
        "generated text": lambda: list_elements(d.from_generator(lambda: iter(["x"]), output_signature=one)),
        "generated shape": lambda: list_elements(d.from_generator(lambda: iter([[1, 2]]), output_signature=one)),
        "generated single": lambda: list_elements(d.from_generator(lambda: iter([1]), output_signature=(one, one))),
        "generator raises": lambda: list_elements(d.from_generator(lambda: (1 / 0 for _ in "x"), output_signature=one)),
        "missing file": lambda: list_elements(tf.data.TFRecordDataset("/nonexistent/x")),
        "names of numbers": lambda: tf.data.TFRecordDataset(3),
        "zip of lists": lambda: d.zip([some, some]),
        "predicate": lambda: list_elements(some.filter(lambda x: x)),
        "unbatched scalar": lambda: list_elements(some.unbatch()),
        "cycle 0": lambda: some.interleave(lambda x: some, cycle_length=0),
        "block 0": lambda: some.interleave(lambda x: some, cycle_length=2, block_length=0),
        "single of none": lambda: d.range(0).get_single_element(),
        "single of two": lambda: d.range(2).get_single_element(),
        "padded too small": lambda: list_elements(tens.padded_batch(4, [2])),
        "padded with another": lambda: list_elements(tens.padded_batch(2, [5], -1)),
        "padded to scalars": lambda: list_elements(tens.padded_batch(2, [])),
        "concatenated": lambda: list_elements(some.concatenate(d.from_tensors("x"))),
    }
    return {name: catch_error(run) for name, run in runs.items()}


def drop_types(found):
    """Return errors without their types, which JSON cannot store."""
    return {name: None if one is None else one[:2] for name, one in found.items()}


PROGRAMS = {one.__name__: one for one in (orders, interleaved, structures, functions, files, cardinalities, errors)}
