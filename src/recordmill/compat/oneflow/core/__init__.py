"""``oneflow.core``: where OneFlow keeps its messages."""

from recordmill.compat.oneflow.core import record

__all__ = ["record"]
