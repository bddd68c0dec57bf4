"""``oneflow.core``: the package of OneFlow's messages."""

from recordmill.compat.oneflow.core import record

__all__ = ["record"]
