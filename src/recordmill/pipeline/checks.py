"""What several stages ask of their arguments."""

from __future__ import annotations

from collections.abc import Iterable
from operator import index
from typing import Any

import numpy as np


def is_whole(value: Any, least: int = 0, stop: int | None = None) -> bool:
    """Whether something is a whole number in a range; True and False are none."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        return False
    return bool(value >= least and (stop is None or value < stop))


def is_number(value: Any) -> bool:
    """Whether something is a number, whole or not; True and False are none."""
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def whole(value: Any, what: str, least: int = 0, stop: int | None = None) -> int:
    """Number as Python has it, also where NumPy's was given: states go into JSON, and large ones do not wrap."""
    if not is_whole(value, least, stop):
        raise ValueError(f"{what}, not {value!r}")
    return int(value)


def seed_of(value: Any) -> int:
    """Seed of a shuffle or a stage that draws."""
    return whole(value, "a seed is a whole number from 0 to 2**64 - 1", 0, 1 << 64)


def epoch_of(value: Any) -> int:
    """Epoch, as far as random numbers go."""
    return whole(value, "an epoch is a whole number from 0 to 2**32 - 1", 0, 1 << 32)


def settle(stage: Any, **values: Any) -> None:
    """Give fields of a frozen object their checked values, while it is made."""
    for name, value in values.items():
        object.__setattr__(stage, name, value)


def positions_of(positions: Iterable[Any]) -> list[int]:
    """Positions as whole numbers; what is none is not rounded to one."""
    if isinstance(positions, np.ndarray) and positions.dtype.kind in "iu" and positions.ndim == 1:
        return positions.tolist()  # type: ignore[no-any-return]
    return [_position(position) for position in positions]


def _position(position: Any) -> int:
    if isinstance(position, bool | np.bool_) or not hasattr(position, "__index__"):
        raise TypeError(f"a position is a whole number, not {position!r}")
    return index(position)
