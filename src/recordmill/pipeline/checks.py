"""Argument checks that several stages share."""

from __future__ import annotations

from collections.abc import Iterable
from operator import index
from typing import Any

import numpy as np


def is_integer(value: Any, minimum: int = 0, stop: int | None = None) -> bool:
    """Return True for an integer with ``minimum <= value < stop``; False for booleans."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        return False
    return bool(value >= minimum and (stop is None or value < stop))


def is_number(value: Any) -> bool:
    """Return True for an integer or a float; False for booleans."""
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def check_integer(value: Any, requirement: str, minimum: int = 0, stop: int | None = None) -> int:
    """Return a valid integer as `int`; otherwise raise ValueError with the message ``{requirement}, got {value}``."""
    if not is_integer(value, minimum, stop):
        raise ValueError(f"{requirement}, got {value!r}")
    return int(value)


def check_seed(value: Any) -> int:
    """Return a seed as `int`; raise ValueError unless it is an integer from 0 to 2**64 - 1."""
    return check_integer(value, "seed must be an integer from 0 to 2**64 - 1", 0, 1 << 64)


def check_epoch(value: Any) -> int:
    """Return an epoch as `int`; raise ValueError unless it fits into the 32 bits that the random generator uses."""
    return check_integer(value, "epoch must be an integer from 0 to 2**32 - 1", 0, 1 << 32)


def check_positions(positions: Iterable[Any]) -> list[int]:
    """Convert positions to `int`; raise TypeError for floats and masks instead of converting them."""
    if isinstance(positions, np.ndarray):
        if positions.ndim != 1 or (positions.dtype.kind not in "iu" and len(positions)):
            is_mask = positions.dtype == bool
            hint = "; use numpy.flatnonzero(mask) to convert a mask to positions" if is_mask else ""
            raise TypeError(
                "positions must be integers in one dimension, "
                f"got an array of {positions.dtype} with {positions.ndim} dimensions{hint}"
            )
        return positions.tolist()  # type: ignore[no-any-return]
    return [_check_position(position) for position in positions]


def _check_position(position: Any) -> int:
    if isinstance(position, bool | np.bool_) or not hasattr(position, "__index__"):
        raise TypeError(f"positions must be integers, got {position!r}")
    return index(position)


def set_fields(instance: Any, **values: Any) -> None:
    """Set fields of a frozen dataclass in its `__post_init__`."""
    for name, value in values.items():
        object.__setattr__(instance, name, value)
