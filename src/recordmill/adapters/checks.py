"""What several frameworks ask of their arguments."""

from __future__ import annotations

from operator import index
from typing import Any

import recordmill as rm


def whole(value: Any, what: str) -> int:
    """Whole number that is not negative."""
    if isinstance(value, bool) or not hasattr(value, "__index__") or index(value) < 0:
        raise ValueError(f"{what}, not {value!r}")
    return index(value)


def epoch_of(value: Any) -> int:
    """Epoch, as far as random numbers go."""
    what = "an epoch is a whole number from 0 to 2**32 - 1"
    epoch = whole(value, what)
    if epoch >> 32:
        raise ValueError(f"{what}, not {value!r}")
    return epoch


def check_by_position(dataset: rm.Dataset, instead: str) -> None:
    """Refuse a data set that is divided among ranks where elements are asked for by position."""
    if dataset.is_sharded:
        raise ValueError(f"shard() takes effect in loaders, and not by position: leave it out; {instead}")
