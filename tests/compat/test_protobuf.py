"""Message classes that are built with the protobuf package: what TensorFlow's and OneFlow's have in common."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory, text_format
from google.protobuf.message import DecodeError
from hypothesis import given, strategies as st

import recordmill.compat.tensorflow as tf
from recordmill.compat.oneflow import record_pb2
from recordmill.compat.protobuf import lazy_messages
from recordmill.compat.tensorflow.train import messages
from tests.compat.oneflow.parts import frame, message

WITHOUT_PROTOBUF = """
import sys
sys.modules["google.protobuf"] = None
import recordmill as rm
import recordmill.compat.oneflow as flow
import recordmill.compat.oneflow.core.record.record_pb2 as core_record_pb2
import recordmill.compat.oneflow.record_pb2 as record_pb2
import recordmill.compat.tensorflow as tf

dataset = tf.data.TFRecordDataset(["train.tfrecord"])
dataset = dataset.map(lambda record: tf.io.parse_single_example(record, {"label": tf.io.FixedLenFeature([], tf.int64)}))
for _ in range(2):
    assert [found["label"].numpy() for found in dataset.cache("kept")] == [7]

batch = flow.nn.OFRecordReader(".", batch_size=2, data_part_num=1)()
labels = flow.nn.OFRecordRawDecoder("label", shape=(), dtype=flow.float)(batch)
assert labels.tolist() == [7, 0.5], labels

uses = [
    lambda: tf.train.Example,
    lambda: tf.io.serialize_tensor([1]),
    lambda: tf.io.parse_tensor(b"", tf.int64),
    lambda: tf.make_tensor_proto(1),
    lambda: record_pb2.OFRecord,
    lambda: core_record_pb2.Feature,
]
for use in uses:
    try:
        use()
    except rm.MissingExtraError as error:
        assert "the package protobuf, version 5.26 or later" in str(error), error
        print(error.hint)
"""


def make_example() -> Any:
    example = messages.Example()
    example.features.feature["a"].int64_list.value.extend([1, -2])
    return example


def make_ofrecord() -> Any:
    record = record_pb2.OFRecord()
    record.feature["a"].double_list.value.append(0.1)
    record.feature["b"].int32_list.value.append(-1)
    return record


def make_tensor_shape() -> Any:
    return messages.TensorShapeProto(dim=[{"size": 3, "name": "rows"}])


MAKE = [make_example, make_ofrecord, make_tensor_shape]


def append_value(example: Any) -> Any:
    """Change an Example in a worker process."""
    example.features.feature["a"].int64_list.value.append(3)
    return example


def test_messages_without_protobuf_name_the_extra_and_the_rest_works(tmp_path: Any) -> None:
    example = messages.Example()
    example.features.feature["label"].int64_list.value.append(7)
    with tf.io.TFRecordWriter(str(tmp_path / "train.tfrecord")) as writer:
        writer.write(example.SerializeToString())
    labels = message(label=7), message(label=record_pb2.Feature(float_list=record_pb2.FloatList(value=[0.5])))
    (tmp_path / "part-0").write_bytes(b"".join(map(frame, labels)))
    command = [sys.executable, "-c", WITHOUT_PROTOBUF]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["pip install 'recordmill[protobuf]'"] * 6


@pytest.mark.parametrize("make", MAKE)
def test_message_copies_and_pickles_are_equal_and_independent(make: Any) -> None:
    original = make()
    for copied in (copy.deepcopy(original), copy.copy(original), pickle.loads(pickle.dumps(original))):
        assert copied == original and type(copied) is type(original)
        copied.Clear()
        assert copied != original


def test_message_is_passed_to_a_spawned_process_and_back() -> None:
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        found = pool.submit(append_value, make_example()).result(timeout=60)
    assert list(found.features.feature["a"].int64_list.value) == [1, -2, 3]


def test_message_classes_are_built_once_if_threads_ask_together() -> None:
    fields = {f"Message{number}": [("value", 1, "int64", "repeated")] for number in range(200)}
    build, names = lazy_messages(__name__, "threads", "proto3", {"threads.proto": fields})
    with ThreadPoolExecutor(8) as pool:
        classes = set(pool.map(build, ["Message7"] * 8))
    assert classes == {Message7}  # noqa: F821 (the names of the messages are those of this module now)
    assert "Message199" in names()
    with pytest.raises(AttributeError, match="has no attribute 'Message200'"):
        build("Message200")


def test_messages_work_beside_a_pool_that_defines_the_same_names() -> None:
    made = make_example(), make_ofrecord()
    pool = descriptor_pool.Default()  # That of the frameworks.
    for one in made:
        file = descriptor_pb2.FileDescriptorProto()
        one.DESCRIPTOR.file.CopyToProto(file)
        for name in file.dependency:
            needed = descriptor_pb2.FileDescriptorProto()
            one.DESCRIPTOR.file.pool.FindFileByName(name).CopyToProto(needed)
            pool.AddSerializedFile(needed.SerializeToString())
        pool.AddSerializedFile(file.SerializeToString())
        other = message_factory.GetMessageClass(pool.FindMessageTypeByName(one.DESCRIPTOR.full_name))
        assert other is not type(one)
        found = other.FromString(one.SerializeToString())
        assert str(found) == str(one)
        assert type(one).FromString(found.SerializeToString()) == one


@pytest.mark.parametrize(
    "cls, name, file",
    [
        (lambda: messages.Feature, "tensorflow.Feature", "tensorflow/core/example/feature.proto"),
        (lambda: messages.Example, "tensorflow.Example", "tensorflow/core/example/example.proto"),
        (lambda: messages.TensorProto, "tensorflow.TensorProto", "tensorflow/core/framework/tensor.proto"),
        (lambda: record_pb2.OFRecord, "oneflow.OFRecord", "oneflow/core/record/record.proto"),
    ],
)
def test_descriptor_has_the_names_of_the_framework(cls: Any, name: str, file: str) -> None:
    descriptor = cls().DESCRIPTOR
    assert (descriptor.full_name, descriptor.file.name) == (name, file)


def test_text_and_json_have_the_names_of_the_schemas() -> None:
    example, record = make_example(), make_ofrecord()
    assert json_format.MessageToDict(example) == {"features": {"feature": {"a": {"int64List": {"value": ["1", "-2"]}}}}}
    assert json_format.MessageToDict(record) == {
        "feature": {"a": {"doubleList": {"value": [0.1]}}, "b": {"int32List": {"value": [-1]}}}
    }
    assert text_format.Parse(str(example), messages.Example()) == example
    assert str(messages.TensorProto(dtype=1)) == "dtype: DT_FLOAT\n"


@pytest.mark.parametrize(
    "name, given, expected",
    [
        ("Int64List", np.arange(3), [0, 1, 2]),
        ("Int64List", np.array([1, 255], np.uint8), [1, 255]),
        ("Int64List", [np.int64(-3), np.int8(2), np.array(5)], [-3, 2, 5]),
        ("Int64List", range(2), [0, 1]),
        ("FloatList", np.array([0.1, 2], np.float32), [float(np.float32(0.1)), 2]),
        ("FloatList", np.array([0.1]), [float(np.float32(0.1))]),
        ("FloatList", [np.float32(0.5), np.int64(2), 3], [0.5, 2, 3]),
        ("FloatList", [1e39], [float("inf")]),
        ("BytesList", np.array([b"a", b"bc"]), [b"a", b"bc"]),
        ("BytesList", np.array([b"a", b"b"], object), [b"a", b"b"]),
    ],
)
def test_list_takes_numpy_arrays_and_scalars(name: str, given: Any, expected: list[Any]) -> None:
    for module in (messages, record_pb2):
        cls = getattr(module, name)
        extended = cls()
        extended.value.extend(given)
        assert cls(value=given) == extended and list(extended.value) == expected
        assert np.asarray(extended.value).tolist() == expected


@pytest.mark.parametrize("make", [make_example, make_ofrecord])
def test_truncated_message_raises_decode_error(make: Any) -> None:
    data = make().SerializeToString()
    for stop in range(1, len(data)):
        try:
            found = type(make()).FromString(data[:stop])
        except DecodeError:
            continue
        assert data[:stop] == found.SerializeToString() != data  # It ends between two entries.


@given(st.binary(max_size=60))
def test_any_bytes_are_a_message_or_raise_decode_error(data: bytes) -> None:
    for cls in (messages.SequenceExample, record_pb2.OFRecord, messages.TensorProto):
        try:
            found = cls.FromString(data)
        except DecodeError:
            continue
        # Again, as what is not UTF-8, not in its order or not packed may change.
        again = found.SerializeToString(deterministic=True)
        assert cls.FromString(again).SerializeToString(deterministic=True) == again
