"""``mx.random``: the seed of MXNet's own generator, from which nothing here draws."""

from __future__ import annotations

from typing import Any

from recordmill.compat.mxnet.absent import absent


def seed(seed_state: int, ctx: Any = "all") -> None:
    """Accept a seed.

    Iterators draw from their parameters `seed` and `seed_aug`, or from `random` and `numpy.random`, here as in MXNet.
    """
    del ctx
    if not isinstance(seed_state, int):
        raise ValueError("seed_state must be int")  # noqa: TRY004 (as in MXNet)


__getattr__ = absent(__name__, {}, "draw with numpy.random")
