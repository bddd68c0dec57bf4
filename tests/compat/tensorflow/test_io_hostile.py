"""What a file or a message may hold to do harm, and mistakes of callers: exceptions with a name, never a crash."""

from __future__ import annotations

import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import recordmill as rm
import recordmill.compat.tensorflow as tf

SPEC = {"a": tf.io.FixedLenFeature([], tf.int64), "b": tf.io.VarLenFeature(tf.string)}


def example(**values: int | list[int]) -> bytes:
    """Serialized example of whole numbers."""
    message = tf.train.Example()
    for name, value in values.items():
        message.features.feature[name].int64_list.value.extend(np.atleast_1d(value).tolist())
    return message.SerializeToString()


@given(st.binary(max_size=60))
def test_any_bytes_when_parsed_then_are_tensors_or_refused(data: bytes) -> None:
    refused: tf.errors.InvalidArgumentError | None = None
    found = {}
    try:
        found = tf.io.parse_example([data], {"b": SPEC["b"]})
    except tf.errors.InvalidArgumentError as error:
        refused = error
    if refused is None:
        assert found["b"].dense_shape.numpy()[0] == 1
    else:
        assert refused.record == 0
        assert refused.message.startswith("Could not parse")


@given(st.binary(max_size=40))
def test_any_bytes_when_parsed_as_a_tensor_then_are_one_or_refused(data: bytes) -> None:
    for dtype in (tf.int32, tf.string, tf.float16):
        try:
            found = tf.io.parse_tensor(data, dtype)
        except (tf.errors.InvalidArgumentError, tf.errors.ResourceExhaustedError):
            continue
        assert found.dtype == dtype


def test_parse_tensor_refuses_few_bytes_that_stand_for_a_huge_tensor() -> None:
    proto = tf.make_tensor_proto(7, tf.int32)
    proto.tensor_shape.dim.add(size=1 << 40)
    with pytest.raises(tf.errors.ResourceExhaustedError, match="1 values stand for"):
        tf.io.parse_tensor(proto.SerializeToString(), tf.int32)


@pytest.mark.parametrize("content", [b"\x80" * 20, b"\x02\x80", b"\x05\x01ab", b"\x01\x01"])
def test_parse_tensor_refuses_malformed_lengths_of_strings(content: bytes) -> None:
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


def test_error_of_a_record_when_pickled_then_keeps_its_place() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        tf.io.parse_example([example(a=1), example(b=2)], {"a": SPEC["a"]})
    again = pickle.loads(pickle.dumps(caught.value))
    assert again.record == 1 and again.message == caught.value.message and isinstance(again, rm.RecordmillError)


def test_malformed_payload_raises_error_without_its_content() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="Could not parse example") as caught:
        tf.io.parse_single_example(b"\xff" * 100_000, SPEC)
    assert len(str(caught.value)) < 2000 and caught.value.kind == "bad_payload"


@pytest.mark.parametrize("given", [1, [1, 2], np.zeros(2), None, [b"a", 3]])
def test_records_that_are_no_strings_when_parsed_then_are_refused(given: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        tf.io.parse_example(given, SPEC)


def test_specs_when_equal_but_for_a_type_then_are_not_mixed_up() -> None:
    data = example(b=1)
    for default in (1, True, 1):
        spec = {"a": tf.io.FixedLenFeature([], tf.float32, default)}
        try:
            assert float(tf.io.parse_single_example(data, spec)["a"]) == 1.0
        except TypeError:
            assert default is True


def test_sparse_feature_when_a_record_has_other_numbers_of_indices_than_values_then_it_is_named() -> None:
    spec = {"a": tf.io.SparseFeature("i", "v", tf.int64, 9)}
    records = [example(i=3, v=4), example(i=[1, 2]), example(v=[5, 6])]
    with pytest.raises(tf.errors.InvalidArgumentError, match="found 0 values and 2 indices") as caught:
        tf.io.parse_example(records, spec)
    assert caught.value.record == 1
    assert tf.io.parse_example(records[:1], spec)["a"].indices.numpy().tolist() == [[0, 3]]


@pytest.mark.parametrize("row", [2**31 - 1, 2**26])
def test_row_numbers_when_they_would_fill_the_memory_then_are_refused(row: int) -> None:
    rows = tf.io.RaggedFeature(tf.int64, "v", [tf.io.RaggedFeature.ValueRowIds("r")])
    hostile = example(v=[1, 2], r=[0, row])
    for parse in (
        lambda: tf.io.parse_single_example(hostile, {"a": rows}),
        lambda: tf.io.parse_example([hostile], {"a": rows}),
    ):
        with pytest.raises(tf.errors.InvalidArgumentError, match=f"found row number {row}"):
            parse()
    with pytest.raises(tf.errors.InvalidArgumentError, match="empty rows beside 4 values"):
        tf.io.parse_example([example(v=[1, 2], r=[0, 2**24])] * 2, {"a": rows})
    assert tf.io.parse_single_example(example(v=[1, 2], r=[0, 3]), {"a": rows})["a"].to_list() == [[1], [], [], [2]]


def test_spec_when_changed_between_calls_then_is_read_again() -> None:
    spec = {"a": tf.io.FixedLenFeature([1], tf.int64)}
    assert tf.io.parse_single_example(example(a=3), spec)["a"].shape == [1]
    spec["a"].shape.pop()
    assert tf.io.parse_single_example(example(a=3), spec)["a"].shape == []


def test_files_when_not_allowed_then_raise_what_the_system_says(tmp_path: Path) -> None:
    target = tmp_path / "x"
    target.write_bytes(b"1")
    for act in (lambda: tf.io.gfile.mkdir(target / "y"), lambda: tf.io.read_file(str(target / "y"))):
        with pytest.raises(OSError, match="Not a directory") as caught:
            act()
        assert isinstance(caught.value, tf.errors.OpError)
    with pytest.raises(tf.errors.AlreadyExistsError):
        tf.io.gfile.copy(target, target)


def test_file_when_forgotten_then_is_closed(tmp_path: Path) -> None:
    tf.io.gfile.GFile(tmp_path / "x", "w").write("text")
    assert (tmp_path / "x").read_text() == "text"
    assert os.listdir(tmp_path) == ["x"]
