"""``oneflow.core.record``: package of ``record_pb2``, the protobuf messages of records."""

from recordmill.compat.oneflow.core.record import record_pb2

__all__ = ["record_pb2"]
