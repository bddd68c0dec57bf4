"""``mx.random``: `seed` has no effect. Seed `random`, `numpy.random` and the iterators instead."""

from __future__ import annotations

from typing import Any

from recordmill.compat.mxnet.base import create_module_getattr


def seed(seed_state: int, ctx: Any = "all") -> None:
    """``mx.random.seed``: has no effect, except that a seed that is not an int raises ValueError."""
    del ctx
    if not isinstance(seed_state, int):
        raise ValueError("seed_state must be int")  # noqa: TRY004 (as in MXNet)


__getattr__ = create_module_getattr(__name__, {}, "use numpy.random")
