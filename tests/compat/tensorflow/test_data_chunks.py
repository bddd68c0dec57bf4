"""tf.data: functions give equal results on chunks of elements and on single elements."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import recordmill as rm
import recordmill.compat.tensorflow as tf
from tests.compat.tensorflow.pipelines import check_equal, describe, run

D = tf.data.Dataset
COUNT = 150
FEATURES = {
    "raw": tf.io.FixedLenFeature([], tf.string),
    "label": tf.io.FixedLenFeature([], tf.int64, -1),
    "boxes": tf.io.VarLenFeature(tf.float32),
    "words": tf.io.VarLenFeature(tf.string),
    "pairs": tf.io.FixedLenSequenceFeature([2], tf.int64, allow_missing=True),
    "steps": tf.io.FixedLenSequenceFeature([], tf.float32, allow_missing=True, default_value=7.0),
}


def example(number: int) -> dict[str, Any]:
    made = {
        "raw": bytes([number % 251]) * 12,
        "boxes": [0.5] * (number % 4),
        "words": [b"w" * place for place in range(number % 3)],
        "pairs": list(range(2 * (number % 3))),
        "steps": [1.5] * (number % 5),
    }
    return made if number % 10 == 9 else {**made, "label": number}


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("chunks")
    with rm.ShardWriter(folder / "a.tfrecord") as writer:
        for number in range(COUNT):
            writer.write(example(number))
    return str(folder / "a.tfrecord")


def parsed(record: Any) -> Any:
    return tf.io.parse_single_example(record, FEATURES)


def dense(record: Any) -> Any:
    found = parsed(record)
    pixels = tf.cast(tf.reshape(tf.io.decode_raw(found["raw"], tf.uint8), [3, 4]), tf.float32) / 255.0
    return (
        pixels,
        tf.sparse.to_dense(found["boxes"]),
        tf.sparse.to_dense(found["words"]),
        found["label"],
        found["pairs"],
    )


def strict(record: Any) -> Any:
    found = tf.io.parse_single_example(record, {"label": tf.io.FixedLenFeature([], tf.int64)})
    return found["label"] * 2


PIPELINES: dict[str, Callable[[Any], Any]] = {
    "parsed": lambda records: records.map(parsed),
    "dense": lambda records: records.map(dense),
    "in threads": lambda records: records.map(dense, num_parallel_calls=2),
    "twice": lambda records: records.map(dense).map(lambda pixels, *_: pixels * 2 - 1),
    "kept": lambda records: records.map(parsed).filter(lambda found: found["label"] % 3 == 0),
    "kept by a list": lambda records: records.map(dense).filter(lambda pixels, boxes, *_: tf.reduce_sum(boxes) > 0.6),
    "all dropped": lambda records: records.map(dense).filter(lambda *parts: parts[3] < -5),
    "shuffled": lambda records: records.map(dense).shuffle(40, seed=2),
    "padded": lambda records: records.map(dense).padded_batch(7, ([3, 4], [None], [None], [], [None, 2])),
    "sparse batches": lambda records: (
        records.map(parsed).batch(8).map(lambda found: tf.sparse.to_dense(found["boxes"]))
    ),
    "random": lambda records: records.map(lambda record: tf.random.uniform([2], seed=3) + dense(record)[0][0, 0]),
    "taken": lambda records: records.map(dense).take(5).repeat(2),
    "failing": lambda records: records.map(strict),
    "failing and kept": lambda records: records.map(strict).filter(lambda label: label < 90),
}


FRAMES = {
    "tokens": tf.io.FixedLenSequenceFeature([], tf.int64),
    "places": tf.io.FixedLenSequenceFeature([2], tf.float32, allow_missing=True),
    "words": tf.io.FixedLenSequenceFeature([], tf.string, allow_missing=True),
}


@pytest.fixture(scope="module")
def sequences(tmp_path_factory: pytest.TempPathFactory) -> str:
    name = str(tmp_path_factory.mktemp("sequences") / "a.tfrecord")
    with tf.io.TFRecordWriter(name) as writer:
        for number in range(COUNT):
            tokens = [tf.train.Feature(int64_list=tf.train.Int64List(value=[number]))] * (number % 6)
            places = [tf.train.Feature(float_list=tf.train.FloatList(value=[number, 0.5]))] * (number % 3)
            words = [tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"w"]))] * (number % 4)
            lists = {"tokens": tokens, "places": places, "words": words}
            made = tf.train.SequenceExample(
                context=tf.train.Features(feature={"id": tf.train.Feature(int64_list={"value": [number]})}),
                feature_lists=tf.train.FeatureLists(
                    feature_list={
                        key: tf.train.FeatureList(feature=rows)
                        for key, rows in lists.items()
                        if rows or key == "tokens"
                    }
                ),
            )
            writer.write(made.SerializeToString())
    return name


def read_sequence(record: Any) -> Any:
    context, frames = tf.io.parse_single_sequence_example(record, {"id": tf.io.FixedLenFeature([], tf.int64)}, FRAMES)
    return context["id"], frames


SEQUENCES: dict[str, Callable[[Any], Any]] = {
    "parsed": lambda records: records.map(read_sequence),
    "only frames": lambda records: records.map(
        lambda record: tf.io.parse_single_sequence_example(record, sequence_features=FRAMES)[1]["tokens"] * 2
    ),
    "named": lambda records: records.map(
        lambda record: tf.io.parse_single_sequence_example(
            serialized=record, context_features={"id": tf.io.FixedLenFeature([], tf.int64)}
        )[0]
    ),
    "padded": lambda records: records.map(lambda record: read_sequence(record)[1]["tokens"]).padded_batch(8),
    "by length": lambda records: records.map(
        lambda record: read_sequence(record)[1]["tokens"]
    ).bucket_by_sequence_length(lambda tokens: tf.shape(tokens)[0], [2, 4], [5, 5, 5]),
    "wrong": lambda records: records.map(
        lambda record: tf.io.parse_single_sequence_example(record, {"none": tf.io.FixedLenFeature([], tf.int64)})
    ).take(3),
}


@pytest.mark.parametrize("name", SEQUENCES)
def test_sequences_parsed_together_equal_those_parsed_one_by_one(name: str, sequences: str) -> None:
    dataset = SEQUENCES[name](tf.data.TFRecordDataset(sequences))
    assert "records parsed together" in dataset.explain()
    found = [describe(step) for step in run(dataset)]
    assert found == [describe(step) for step in run(dataset, native=False)] and found


@pytest.mark.parametrize("name", PIPELINES)
def test_chunks_equal_single_elements(name: str, path: str) -> None:
    found = []
    for native in (True, False):
        tf.random.set_seed(5)
        found.append([describe(step) for step in run(PIPELINES[name](tf.data.TFRecordDataset(path)), native=native)])
    assert found[0] == found[1] and (found[0] or name == "all dropped")


@pytest.mark.parametrize("name", ["parsed", "dense", "failing"])
def test_function_with_batch_rules_runs_natively(name: str, path: str) -> None:
    explained = PIPELINES[name](tf.data.TFRecordDataset(path)).explain()
    assert all(line.startswith("native: ") for line in explained.splitlines())


ONES: dict[str, Callable[[Any, int], Any]] = {
    "argmax": tf.argmax,
    "argmin": lambda x, axis: tf.argmin(x, axis=axis, output_type=tf.int32),
    "max": tf.reduce_max,
    "min of all": lambda x, _: tf.reduce_min(x),
    "max kept": lambda x, axis: tf.reduce_max(x, [axis], keepdims=True),
    "any": lambda x, axis: tf.reduce_any(x > 3, axis=axis),
    "all": lambda x, _: tf.reduce_all(x > 3),
}


@given(st.sampled_from(sorted(ONES)), st.integers(1, 3), st.data())
@settings(max_examples=60, deadline=None)
def test_reductions_on_chunks_equal_those_of_single_elements(name: str, rank: int, data: Any) -> None:
    shape = data.draw(st.lists(st.integers(1, 3), min_size=rank, max_size=rank))
    axis = data.draw(st.integers(-rank, rank - 1))
    rows = np.random.default_rng(data.draw(st.integers(0, 99))).integers(0, 6, (9, *shape)).astype(np.float32)
    check_equal(lambda: D.from_tensor_slices(rows).map(lambda x: ONES[name](x, axis)))


OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    **{name: getattr(tf, name) for name in ("add", "subtract", "multiply", "maximum", "minimum", "truediv")},
    "divide": lambda one, other: one / other,
    "clip": lambda one, other: tf.clip_by_value(tf.add(one, other), -0.5, 9.0),
    "clip per channel": lambda one, other: tf.clip_by_value(one * other, [-1.0, 0.0, 1.0], 2.0),
}
CONSTANTS: dict[str, Any] = {
    "number": 2.5,
    "vector": [0.1, -2.0, 0.0],
    "tensor": tf.constant(0.3),
    "image": np.linspace(-1, 1, 3).reshape(1, 1, 3),
    "nan": float("nan"),
}


@settings(max_examples=40, deadline=None)
@given(
    calls=st.lists(
        st.tuples(st.sampled_from(sorted(OPERATIONS)), st.booleans(), st.sampled_from(sorted(CONSTANTS))),
        min_size=1,
        max_size=5,
    ),
    shape=st.sampled_from([(3,), (4, 3), (5, 4, 3), (70, 90, 3)]),
    dtype=st.sampled_from([np.float32, np.uint8]),
)
def test_random_arithmetic_on_chunks_equals_single_elements(
    calls: list[Any], shape: tuple[int, ...], dtype: Any
) -> None:
    values = np.random.default_rng(len(shape)).integers(0, 255, (37, *shape)).astype(dtype)

    def function(record: Any) -> Any:
        value = tf.cast(tf.reshape(tf.io.decode_raw(record, values.dtype), shape), tf.float32)
        for name, is_left, constant in calls:
            other = CONSTANTS[constant]
            value = OPERATIONS[name](*((other, value) if is_left else (value, other)))
        return value

    records = [value.tobytes() for value in values]
    check_equal(lambda: D.from_tensor_slices(records).map(function))
    check_equal(lambda: D.from_tensor_slices(records).map(function).batch(16))


LINES: dict[str, Callable[[Any], Any]] = {
    "columns": lambda line: tf.io.decode_csv(line, [0, 0.5, "none"]),
    "one column": lambda line: tf.io.decode_csv(line, [""], select_cols=[2])[0],
    "numbers": lambda line: tf.strings.to_number(tf.io.decode_csv(line, ["", "", ""])[0], tf.int64) + 1,
    "words": lambda line: tf.strings.length(tf.strings.upper(tf.io.decode_csv(line, [0, 0.0, ""])[2])),
}


@pytest.mark.parametrize("broken", [None, 75])
@pytest.mark.parametrize("name", LINES)
def test_lines_read_together_equal_those_read_one_by_one(name: str, broken: int | None) -> None:
    lines = [f"{number},{number / 3 if number % 5 else ''},name {number}".encode() for number in range(100)]
    if broken is not None:
        lines[broken] = b"not,enough"
    dataset = D.from_tensor_slices(lines).map(LINES[name])
    found = [[describe(step) for step in run(dataset, native=native)] for native in (True, False)]
    assert found[0] == found[1] and len(found[0]) == 100
    assert [place for place, one in enumerate(found[0]) if isinstance(one, tuple)] == [broken] * (broken is not None)


def test_map_advances_generator_only_as_far_as_the_consumer() -> None:
    given: list[int] = []

    def numbers() -> Iterator[int]:
        for number in range(1000):
            given.append(number)
            yield number

    dataset = D.from_generator(numbers, output_signature=tf.TensorSpec([], tf.int64)).map(lambda x: x + 1)
    given.clear()
    assert [int(x) for x, _ in zip(dataset, range(5), strict=False)] == [1, 2, 3, 4, 5] and len(given) <= 6


def test_take_computes_only_the_first_elements() -> None:
    assert [int(x) for x in D.range(10**12).map(lambda x: x * 2).take(3)] == [0, 2, 4]


def test_stored_element_releases_its_chunk() -> None:
    rows = D.from_tensor_slices(np.zeros((40, 5, 5), np.float32)).map(lambda x: x + 1.0)
    assert all(row.numpy().base is None or row.numpy().base.nbytes <= 100 for row in rows)


def test_function_that_fails_for_chunks_runs_per_element() -> None:
    dataset = D.range(500).map(lambda x: tf.one_hot(tf.cast(x % 3, tf.int32), 3, axis=0))
    assert [int(tf.argmax(x)) for x in dataset] == [x % 3 for x in range(500)]


def test_files_are_read_per_element(tmp_path: Path) -> None:
    for number in range(5):
        (tmp_path / f"{number}").write_bytes(b"x" * number)
    names = D.from_tensor_slices([str(tmp_path / f"{number}") for number in range(5)])
    dataset = names.map(lambda name: (tf.io.read_file(name), tf.equal(name, b"x")))
    assert dataset.explain().startswith("per element") and [len(data.numpy()) for data, _ in dataset] == [*range(5)]


def test_large_elements_have_the_right_values() -> None:
    big = D.range(6).map(lambda x: tf.zeros([300, 300]) + tf.cast(x, tf.float32)).map(lambda image: image * 2.0)
    assert [float(image[0, 0]) for image in big] == [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]
