"""OneFlow's record messages: ``OFRecord`` and the lists that its features hold.

References
----------
oneflow/core/record/record.proto of OneFlow 0.9.0 (field numbers).
"""

from __future__ import annotations

from recordmill.compat.messages import BYTES, FLOAT32, FLOAT64, INT32, INT64, Mapped, Message, Nested, Repeated

_PACKAGE = "oneflow"


class BytesList(Message, package=_PACKAGE):
    """Byte strings."""

    value = Repeated(1, BYTES)


class FloatList(Message, package=_PACKAGE):
    """Numbers of 32 bits."""

    value = Repeated(1, FLOAT32)


class DoubleList(Message, package=_PACKAGE):
    """Numbers of 64 bits."""

    value = Repeated(1, FLOAT64)


class Int32List(Message, package=_PACKAGE):
    """Whole numbers of 32 bits."""

    value = Repeated(1, INT32)


class Int64List(Message, package=_PACKAGE):
    """Whole numbers of 64 bits."""

    value = Repeated(1, INT64)


class Feature(Message, package=_PACKAGE):
    """One list of one kind, or none."""

    bytes_list = Nested(1, BytesList, oneof="kind")
    float_list = Nested(2, FloatList, oneof="kind")
    double_list = Nested(3, DoubleList, oneof="kind")
    int32_list = Nested(4, Int32List, oneof="kind")
    int64_list = Nested(5, Int64List, oneof="kind")


class OFRecord(Message, package=_PACKAGE):
    """Features by name."""

    feature = Mapped(1, Feature, lenient=True)
