"""Functions of google.protobuf on our messages: JSON and text, printed and parsed; messages of its own taken over."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from google.protobuf import json_format, text_format
from hypothesis import given

import recordmill.compat.tensorflow as tf
from recordmill.compat.messages import Message
from recordmill.compat.oneflow.record_pb2 import DoubleList, Feature, Int32List, OFRecord
from recordmill.testing import strategies
from tests.compat.messages.twins import Example, SequenceExample, theirs

_EMPTY_NAME = re.compile(r' *key: ""\n')


def check_functions(cls: type[Message], data: bytes) -> None:
    ours, google = cls.FromString(data), theirs(cls).FromString(data)
    printed = json_format.MessageToJson(ours)
    assert json.loads(printed) == json.loads(json_format.MessageToJson(google))
    for options in ({}, {"preserving_proto_field_name": True, "always_print_fields_with_no_presence": True}):
        assert json_format.MessageToDict(ours, **options) == json_format.MessageToDict(google, **options)
    text = text_format.MessageToString(ours)
    # Google's twins are of proto2, TensorFlow's messages of proto3, where an empty name goes without saying.
    assert text == _EMPTY_NAME.sub("", text_format.MessageToString(google))
    for parse, form in ((json_format.Parse, printed), (text_format.Parse, text)):
        assert outcome(parse, form, cls) == outcome(parse, form, theirs(cls))


def outcome(parse: Any, form: str, cls: Any) -> Any:
    """Return what parsing gives; numbers next to the largest are printed so that JSON refuses them."""
    try:
        return parse(form, cls()).SerializeToString(deterministic=True)
    except json_format.ParseError as error:
        return str(error)


@given(strategies.unusual_examples())
def test_example_when_printed_and_parsed_then_is_as_google_has_it(drawn: tuple[bytes, Any]) -> None:
    check_functions(Example, drawn[0])


@given(strategies.unusual_sequence_examples())
def test_sequence_example_when_printed_and_parsed_then_is_as_google_has_it(drawn: tuple[bytes, Any]) -> None:
    check_functions(SequenceExample, drawn[0])


def test_messages_of_frameworks_when_printed_then_have_the_names_of_their_schemas() -> None:
    example = tf.train.Example()
    example.features.feature["label"].int64_list.value.append(7)
    assert json_format.MessageToDict(example) == {"features": {"feature": {"label": {"int64List": {"value": ["7"]}}}}}
    feature = {"a": Feature(double_list=DoubleList(value=[0.5])), "b": Feature(int32_list=Int32List(value=[1, 2]))}
    as_dict = json_format.MessageToDict(OFRecord(feature=feature))
    assert as_dict == {"feature": {"a": {"doubleList": {"value": [0.5]}}, "b": {"int32List": {"value": [1, 2]}}}}
    with pytest.raises(json_format.ParseError, match='has no field named "shape"'):
        json_format.Parse('{"shape": 3}', tf.train.Example())


def test_messages_of_google_when_merged_then_are_taken_by_name() -> None:
    google = theirs(Example)()
    google.features.feature["a"].int64.value.extend([1, 2])
    taken = Example()
    taken.CopyFrom(google)
    taken.features.feature["a"].MergeFrom(google.features.feature["a"])
    assert taken.features.feature["a"].int64.value == [1, 2, 1, 2]
    with pytest.raises(TypeError, match="must be instance of same class"):
        taken.MergeFrom(google.features)
