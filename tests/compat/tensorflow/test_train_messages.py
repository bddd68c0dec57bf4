"""Messages of TensorFlow's records: what tutorials do with them, and the bytes that TensorFlow's protobuf writes."""

from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from google.protobuf.message import DecodeError

import recordmill.compat.tensorflow as tf
from tests.recordings.recipes.values import unspell

CANONICAL = Path(__file__).parents[2] / "recordings" / "tensorflow" / "examples" / "canonical.json"
RECORDED = json.loads(CANONICAL.read_text("utf-8"))


def filled(message: Any, feature: dict[str, Any]) -> None:
    """Put a recorded feature into a message."""
    if feature["kind"] is not None:
        getattr(message, feature["kind"]).SetInParent()
        getattr(message, feature["kind"]).value.extend(unspell(feature))


def test_example_built_as_in_tutorials_is_written_and_read_back() -> None:
    feature = {
        "image": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"\0\xff"])),
        "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[-3])),
    }
    example = tf.train.Example(features=tf.train.Features(feature=feature))
    data = example.SerializeToString()
    read = tf.train.Example.FromString(data)
    assert read == example and read.ByteSize() == len(data)
    read.features.feature["label"].int64_list.value.append(4)
    assert read.features.feature["label"].int64_list.value == [-3, 4] and read != example
    assert read.features.feature["image"].WhichOneof("kind") == "bytes_list"
    assert "nothing" not in read.features.feature and not tf.train.Feature().HasField("int64_list")


def test_sequence_example_holds_frames_and_context() -> None:
    frames = [tf.train.Feature(int64_list=tf.train.Int64List(value=[value])) for value in (2, 3)]
    lists = tf.train.FeatureLists(feature_list={"words": tf.train.FeatureList(feature=frames)})
    message = tf.train.SequenceExample(feature_lists=lists)
    message.context.feature["n"].float_list.value.append(0.5)
    read = tf.train.SequenceExample()
    assert read.ParseFromString(message.SerializeToString()) == message.ByteSize()
    assert [frame.int64_list.value[0] for frame in read.feature_lists.feature_list["words"].feature] == [2, 3]
    copied = tf.train.SequenceExample()
    copied.CopyFrom(read)
    assert copied == message == copy.deepcopy(read) == pickle.loads(pickle.dumps(read))


def test_text_of_example_is_that_of_protobuf() -> None:
    example = tf.train.Example()
    example.features.feature["a"].int64_list.value.append(1)
    lines = ["features {", "feature {", 'key: "a"', "value {", "int64_list {", "value: 1", "}", "}", "}", "}"]
    assert [line.strip() for line in str(example).splitlines()] == lines


@pytest.mark.parametrize("row", RECORDED["examples"][::3])
def test_example_serializes_to_recorded_bytes(row: dict[str, Any]) -> None:
    message = tf.train.Example()
    for name, feature in row["features"].items():
        filled(message.features.feature[name], feature)
    data = bytes.fromhex(row["serialized"])
    assert message.SerializeToString(deterministic=True) == data and tf.train.Example.FromString(data) == message


@pytest.mark.parametrize(
    "act, kind, words",
    [
        (lambda: tf.train.Feature(tf.train.Int64List(value=[1])), TypeError, "No positional arguments allowed"),
        (lambda: tf.train.Feature(value=[1]), ValueError, 'Protocol message Feature has no "value" field.'),
        (lambda: tf.train.BytesList(value=[np.zeros(2)]), TypeError, "expected bytes, numpy.ndarray found"),
        (lambda: tf.train.BytesList(value=["text"]), TypeError, "expected bytes, str found"),
        (lambda: tf.train.Int64List(value=[1.0]), TypeError, "cannot be interpreted as an integer"),
        (lambda: tf.train.Int64List(value=[2**63]), ValueError, "Value out of range"),
        (lambda: tf.train.SequenceExample(featurelists=None), ValueError, 'has no "featurelists" field'),
        (lambda: tf.train.Example.FromString(b"\x0a\x10abc"), DecodeError, "tensorflow.Example"),
    ],
)
def test_mistake_of_tutorials_raises_error_of_protobuf(act: Any, kind: Any, words: str) -> None:
    with pytest.raises(kind, match=words.replace("(", r"\(")):
        act()
