"""``oneflow.core.record``: the package of the record messages."""

from recordmill.compat.oneflow.core.record import record_pb2

__all__ = ["record_pb2"]
