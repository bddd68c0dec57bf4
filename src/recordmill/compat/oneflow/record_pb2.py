"""OneFlow's protobuf messages of records: ``OFRecord``, ``Feature`` and the lists of values.

References
----------
oneflow/core/record/record.proto of OneFlow 0.9.0 (names and numbers of the fields).
"""

from __future__ import annotations

from recordmill.compat.protobuf import Declarations, lazy_messages

_RECORD: Declarations = {
    "BytesList": [("value", 1, "bytes", "repeated")],
    "FloatList": [("value", 1, "float", "repeated")],
    "DoubleList": [("value", 1, "double", "repeated")],
    "Int32List": [("value", 1, "int32", "repeated")],
    "Int64List": [("value", 1, "int64", "repeated")],
    "Feature": [
        ("bytes_list", 1, "BytesList", "oneof"),
        ("float_list", 2, "FloatList", "oneof"),
        ("double_list", 3, "DoubleList", "oneof"),
        ("int32_list", 4, "Int32List", "oneof"),
        ("int64_list", 5, "Int64List", "oneof"),
    ],
    "OFRecord": [("feature", 1, "Feature", "map")],
}

__getattr__, __dir__ = lazy_messages(__name__, "oneflow", "proto2", {"oneflow/core/record/record.proto": _RECORD})
