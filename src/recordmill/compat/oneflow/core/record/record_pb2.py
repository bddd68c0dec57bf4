"""``oneflow.core.record.record_pb2``: the record messages, under the name that OneFlow gives them."""

from __future__ import annotations

from recordmill.compat.oneflow.record_pb2 import (
    BytesList,
    DoubleList,
    Feature,
    FloatList,
    Int32List,
    Int64List,
    OFRecord,
)

__all__ = ["BytesList", "DoubleList", "Feature", "FloatList", "Int32List", "Int64List", "OFRecord"]
