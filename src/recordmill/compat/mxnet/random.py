"""``mx.random``: random numbers come from `random`, `numpy.random` and the seeds of iterators."""

from __future__ import annotations

from typing import Any

from recordmill.compat.mxnet.base import absent


def seed(seed_state: int, ctx: Any = "all") -> None:
    """Check the seed; it has no effect."""
    del ctx
    if not isinstance(seed_state, int):
        raise ValueError("seed_state must be int")  # noqa: TRY004 (as in MXNet)


__getattr__ = absent(__name__, {}, "use numpy.random")
