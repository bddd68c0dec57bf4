"""tf.data: batches of records that are read without an element per record."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

import recordmill.compat.tensorflow as tf
from recordmill.compat.tensorflow.core.rows import StringVector
from recordmill.compat.tensorflow.data.elements import FailedElement
from recordmill.formats.registry import PAYLOADS
from tests.compat.tensorflow.pipelines import run

FEATURES = {"text": tf.io.FixedLenFeature([], tf.string), "number": tf.io.FixedLenFeature([], tf.int64)}


def example(**features: Any) -> bytes:
    return bytes(PAYLOADS["example"].serialize([features], None, 0)[0])


def write(path: Path, payloads: list[bytes], damaged: int | None = None) -> str:
    with tf.io.TFRecordWriter(path) as writer:
        for payload in payloads:
            writer.write(payload)
    if damaged is not None and payloads:
        content = bytearray(path.read_bytes())
        offset = sum(16 + len(payload) for payload in payloads[: damaged % len(payloads)])
        content[offset] ^= 1
        path.write_bytes(content)
    return str(path)


def batches(dataset: Any, *, native: bool) -> list[Any]:
    found: list[Any] = []
    for step in run(dataset, native=native):
        if isinstance(step, FailedElement):
            error: Any = step.error
            found.append((type(error), str(error), error.record, error.offset))
        else:
            found.append((step.value.shape.as_list(), step.value.numpy().tolist()))
    return found


@given(
    shards=st.lists(
        st.tuples(st.lists(st.binary(max_size=40), max_size=45), st.none() | st.integers(0, 50)), max_size=4
    ),
    size=st.integers(1, 40),
    drop=st.booleans(),
    passes=st.sampled_from([None, 0, 1, 3]),
    buffer=st.sampled_from([None, 1, 7, 300]),
    repeats=st.sampled_from([1, 10, 4000]),
)
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_batches_of_records_equal_those_of_single_records(
    shards: Any,
    size: int,
    drop: bool,
    passes: int | None,
    buffer: int | None,
    repeats: int,
    tmp_path: Path,
) -> None:
    paths = [
        write(tmp_path / f"{number}", [one * repeats for one in records], damaged)
        for number, (records, damaged) in enumerate(shards)
    ]
    dataset = tf.data.TFRecordDataset([*paths, *([str(tmp_path / "none")] if size % 5 == 0 else [])])
    dataset = dataset if passes is None else dataset.repeat(passes)
    dataset = dataset if buffer is None else dataset.shuffle(buffer, seed=3, reshuffle_each_iteration=False)
    dataset = dataset.batch(size, drop_remainder=drop)
    assert batches(dataset, native=True) == batches(dataset, native=False)


def test_damaged_record_in_a_dropped_remainder_raises(
    tmp_path: Path,
) -> None:
    path = write(tmp_path / "x", [b"a", b"b", b"c"], damaged=2)
    for dataset in (tf.data.TFRecordDataset(path), tf.data.TFRecordDataset(path).map(lambda text: text)):
        with pytest.raises(tf.errors.DataLossError) as caught:
            list(dataset.batch(5, drop_remainder=True))
        assert caught.value.record == 2


@pytest.fixture
def batch(tmp_path: Path) -> StringVector:
    payloads = [example(text=b"x" * number, number=number) for number in range(20)]
    found = next(iter(tf.data.TFRecordDataset(write(tmp_path / "x", payloads)).batch(20)))
    assert type(found) is StringVector
    return found


def test_shape_and_dtype_of_a_batch_of_records_need_no_objects(batch: StringVector) -> None:
    assert (batch.shape.as_list(), batch.dtype, batch.ndim, len(batch)) == ([20], tf.string, 1, 20)
    assert batch.buffer is not None
    with pytest.raises(AttributeError, match="'StringVector' object has no attribute 'colour'"):
        batch.colour  # noqa: B018


def test_numpy_of_a_batch_of_records_releases_the_buffer(batch: StringVector) -> None:
    rows = batch.buffer
    assert rows is not None
    assert batch.numpy().dtype == object
    assert batch.numpy().tolist() == list(rows)
    assert batch.buffer is None
    assert [one.numpy() for one in batch] == list(rows)
    assert batch[3].numpy() == rows[3]


@pytest.mark.parametrize("looked_at", [False, True])
def test_parse_example_of_a_batch_of_records_equals_that_of_its_bytes(batch: StringVector, looked_at: bool) -> None:
    rows = batch.buffer
    assert rows is not None
    if looked_at:
        batch.numpy()
    found = tf.io.parse_example(batch, FEATURES)
    assert found["number"].numpy().tolist() == [*range(20)]
    assert type(found["text"]) is StringVector
    assert found["text"].numpy().tolist() == [b"x" * number for number in range(20)]
    again = tf.io.parse_example(list(rows), FEATURES)
    np.testing.assert_array_equal(again["text"].numpy(), found["text"].numpy())


def test_parse_example_sees_changes_of_a_feature_description() -> None:
    payload = example(number=[1, 2])
    shape: list[int] = []
    features = {"number": tf.io.FixedLenFeature(shape, tf.int64)}
    for _ in range(2):
        with pytest.raises(tf.errors.InvalidArgumentError, match="the wrong number of values"):
            tf.io.parse_example([payload], features)
    shape.append(2)
    assert tf.io.parse_example([payload], features)["number"].numpy().tolist() == [[1, 2]]
    features["number"] = tf.io.FixedLenFeature([1, 2], tf.int64)
    assert tf.io.parse_example([payload], features)["number"].shape == [1, 1, 2]


def test_dataset_repr_does_not_open_files() -> None:
    data = tf.data.TFRecordDataset("missing").map(lambda record: tf.py_function(len, [record], tf.int64))
    assert repr(data) == "<_MapDataset>"
    assert "TFRecordDatasetV2 element_spec=" in repr(tf.data.TFRecordDataset("missing"))
