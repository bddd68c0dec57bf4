"""Malicious or malformed messages and wrong arguments raise errors of documented classes."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import recordmill as rm
import recordmill.compat.tensorflow as tf

SPEC = {"a": tf.io.FixedLenFeature([], tf.int64), "b": tf.io.VarLenFeature(tf.string)}


def example(**values: int | list[int]) -> bytes:
    """Return a serialized Example of integers."""
    message = tf.train.Example()
    for name, value in values.items():
        message.features.feature[name].int64_list.value.extend(np.atleast_1d(value).tolist())
    return message.SerializeToString()


@given(st.binary(max_size=60))
def test_parse_example_of_any_bytes_returns_tensors_or_raises(data: bytes) -> None:
    parse_error: tf.errors.InvalidArgumentError | None = None
    found = {}
    try:
        found = tf.io.parse_example([data], {"b": SPEC["b"]})
    except tf.errors.InvalidArgumentError as error:
        parse_error = error
    if parse_error is None:
        assert found["b"].dense_shape.numpy()[0] == 1
    else:
        assert parse_error.record == 0
        assert parse_error.message.startswith("Could not parse")


@given(st.binary(max_size=40))
def test_parse_tensor_of_any_bytes_returns_tensor_or_raises(data: bytes) -> None:
    for dtype in (tf.int32, tf.string, tf.float16):
        try:
            found = tf.io.parse_tensor(data, dtype)
        except (tf.errors.InvalidArgumentError, tf.errors.ResourceExhaustedError):
            continue
        assert found.dtype == dtype


def test_parse_tensor_rejects_small_message_with_huge_shape() -> None:
    proto = tf.make_tensor_proto(7, tf.int32)
    proto.tensor_shape.dim.add(size=1 << 40)
    with pytest.raises(tf.errors.ResourceExhaustedError, match="1 values cannot be repeated"):
        tf.io.parse_tensor(proto.SerializeToString(), tf.int32)


@pytest.mark.parametrize("content", [b"\x80" * 20, b"\x02\x80", b"\x05\x01ab", b"\x01\x01"])
def test_parse_tensor_rejects_malformed_string_lengths(content: bytes) -> None:
    proto = tf.make_tensor_proto(["", ""])
    proto.ClearField("string_val")
    proto.tensor_content = content
    with pytest.raises(tf.errors.InvalidArgumentError, match="Cannot parse tensor from proto"):
        tf.io.parse_tensor(proto.SerializeToString(), tf.string)
    proto.tensor_content = b"\x01\x02abc"
    assert tf.io.parse_tensor(proto.SerializeToString(), tf.string).numpy().tolist() == [b"a", b"bc"]


@pytest.mark.parametrize("dtype", [tf.uint64, tf.int64, tf.uint32, tf.int8, tf.float16, tf.bool, tf.float64])
def test_parse_tensor_reads_values_of_lists(dtype: tf.DType) -> None:
    highest = dtype.max if dtype.is_integer else 1
    proto = tf.make_tensor_proto(np.array(highest, dtype.as_numpy_dtype), shape=[2])
    assert not proto.tensor_content
    assert tf.io.parse_tensor(proto.SerializeToString(), dtype).numpy().tolist() == [highest] * 2


def test_pickled_parse_error_keeps_record() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        tf.io.parse_example([example(a=1), example(b=2)], {"a": SPEC["a"]})
    copy = pickle.loads(pickle.dumps(caught.value))
    assert copy.record == 1 and copy.message == caught.value.message and isinstance(copy, rm.RecordmillError)


def test_malformed_payload_raises_error_without_its_content() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="Could not parse example") as caught:
        tf.io.parse_single_example(b"\xff" * 100_000, SPEC)
    assert len(str(caught.value)) < 2000 and caught.value.kind == "bad_payload"


@pytest.mark.parametrize("records", [1, [1, 2], np.zeros(2), None, [b"a", 3]])
def test_parse_example_rejects_records_that_are_not_strings(records: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        tf.io.parse_example(records, SPEC)


def test_parse_spec_cache_distinguishes_types_of_equal_defaults() -> None:
    data = example(b=1)
    for default in (1, True, 1):
        spec = {"a": tf.io.FixedLenFeature([], tf.float32, default)}
        try:
            assert float(tf.io.parse_single_example(data, spec)["a"]) == 1.0
        except TypeError:
            assert default is True


def test_sparse_feature_error_names_record_with_unequal_counts() -> None:
    spec = {"a": tf.io.SparseFeature("i", "v", tf.int64, 9)}
    records = [example(i=3, v=4), example(i=[1, 2]), example(v=[5, 6])]
    with pytest.raises(tf.errors.InvalidArgumentError, match="got 2 indices and 0 values") as caught:
        tf.io.parse_example(records, spec)
    assert caught.value.record == 1
    assert tf.io.parse_example(records[:1], spec)["a"].indices.numpy().tolist() == [[0, 3]]


@pytest.mark.parametrize("row", [2**31 - 1, 2**26])
def test_ragged_feature_rejects_huge_row_numbers(row: int) -> None:
    rows = tf.io.RaggedFeature(tf.int64, "v", [tf.io.RaggedFeature.ValueRowIds("r")])
    hostile = example(v=[1, 2], r=[0, row])
    for parse in (
        lambda: tf.io.parse_single_example(hostile, {"a": rows}),
        lambda: tf.io.parse_example([hostile], {"a": rows}),
    ):
        with pytest.raises(tf.errors.InvalidArgumentError, match=f": {row + 1} rows for 2 values"):
            parse()
    with pytest.raises(tf.errors.InvalidArgumentError, match="exceed the limit of 16777216 empty rows"):
        tf.io.parse_example([example(v=[1, 2], r=[0, 2**24])] * 2, {"a": rows})
    assert tf.io.parse_single_example(example(v=[1, 2], r=[0, 3]), {"a": rows})["a"].to_list() == [[1], [], [], [2]]


def test_parse_spec_can_change_between_calls() -> None:
    spec = {"a": tf.io.FixedLenFeature([1], tf.int64)}
    assert tf.io.parse_single_example(example(a=3), spec)["a"].shape == [1]
    spec["a"].shape.pop()
    assert tf.io.parse_single_example(example(a=3), spec)["a"].shape == []
