"""Whether TensorFlow's graph of the map function that runs would not know how large images are."""

from __future__ import annotations

from contextvars import ContextVar

UNKNOWN: ContextVar[bool] = ContextVar("unknown sizes", default=False)
