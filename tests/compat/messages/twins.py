"""Google's message types of the tests once more, declared with our fields; names are the same, so that texts are."""

from __future__ import annotations

from typing import Any

from google.protobuf import message_factory

from recordmill.compat.messages import (
    BYTES,
    FLOAT32,
    FLOAT64,
    INT32,
    INT64,
    Mapped,
    Message,
    Nested,
    Repeated,
    RepeatedMessages,
)
from tests.oracle import test_oracle_against_google_protobuf as google


class List1(Message, package="ex"):
    value = Repeated(1, BYTES)


class List2(Message, package="ex"):
    value = Repeated(1, FLOAT32)


class List3(Message, package="ex"):
    value = Repeated(1, INT64)


class Feature(Message, package="ex"):
    bytes = Nested(1, List1, oneof="kind")
    float32 = Nested(2, List2, oneof="kind")
    int64 = Nested(3, List3, oneof="kind")


class Features(Message, package="ex"):
    feature = Mapped(1, Feature)


class FeatureList(Message, package="ex"):
    feature = RepeatedMessages(1, Feature)


class FeatureLists(Message, package="ex"):
    feature_list = Mapped(1, FeatureList)


class Example(Message, package="ex"):
    features = Nested(1, Features)


class SequenceExample(Message, package="ex"):
    context = Nested(1, Features)
    feature_lists = Nested(2, FeatureLists)


class Doubles(Message):
    value = Repeated(1, FLOAT64)


class Int32s(Message):
    value = Repeated(1, INT32)


class OFFeature(Message, package="of"):
    bytes = Nested(1, List1, oneof="kind")
    float32 = Nested(2, List2, oneof="kind")
    float64 = Nested(3, Doubles, oneof="kind")
    int32 = Nested(4, Int32s, oneof="kind")
    int64 = Nested(5, List3, oneof="kind")


class OFRecord(Message, package="of"):
    feature = Mapped(1, OFFeature, lenient=True)


def theirs(ours: type[Message]) -> Any:
    """Return Google's class of the same name."""
    pool = google.EXAMPLE.DESCRIPTOR.file.pool
    known = {Doubles: "of.List3", Int32s: "of.List4", OFFeature: "of.Feature"}
    if ours in known or ours is OFRecord:
        pool = google.OFRECORD.DESCRIPTOR.file.pool
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(known.get(ours, ours.DESCRIPTOR.full_name)))
