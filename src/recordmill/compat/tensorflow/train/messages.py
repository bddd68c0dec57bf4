"""The messages of TensorFlow's records: ``Example``, ``SequenceExample`` and their parts.

References
----------
tensorflow/core/example/example.proto and feature.proto (field numbers).
"""

from __future__ import annotations

from recordmill.compat.messages import BYTES, FLOAT32, INT64, Mapped, Message, Nested, Repeated, RepeatedMessages

_PACKAGE = "tensorflow"


class BytesList(Message, package=_PACKAGE):
    """Byte strings."""

    value = Repeated(1, BYTES)


class FloatList(Message, package=_PACKAGE):
    """32-bit floating-point numbers."""

    value = Repeated(1, FLOAT32)


class Int64List(Message, package=_PACKAGE):
    """64-bit integers."""

    value = Repeated(1, INT64)


class Feature(Message, package=_PACKAGE):
    """Values of one kind, or none."""

    bytes_list = Nested(1, BytesList, oneof="kind")
    float_list = Nested(2, FloatList, oneof="kind")
    int64_list = Nested(3, Int64List, oneof="kind")


class Features(Message, package=_PACKAGE):
    """Features by name."""

    feature = Mapped(1, Feature)


class Example(Message, package=_PACKAGE):
    """Content of a record."""

    features = Nested(1, Features)


class FeatureList(Message, package=_PACKAGE):
    """A sequence with one feature per frame."""

    feature = RepeatedMessages(1, Feature)


class FeatureLists(Message, package=_PACKAGE):
    """Sequences by name."""

    feature_list = Mapped(1, FeatureList)


class SequenceExample(Message, package=_PACKAGE):
    """Content of a record with sequences."""

    context = Nested(1, Features)
    feature_lists = Nested(2, FeatureLists)
