"""Whether image sizes are unknown in the map function that runs, as they would be in TensorFlow's graph."""

from __future__ import annotations

from contextvars import ContextVar

UNKNOWN: ContextVar[bool] = ContextVar("unknown sizes", default=False)
