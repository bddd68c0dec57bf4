"""``oneflow.core``: package that contains the protobuf messages of records."""

from recordmill.compat.oneflow.core import record

__all__ = ["record"]
