"""Checks that the specs share; each names the option, what it may be, and what it was."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

Small = Literal["error", "pad", "enlarge"]
PadMode = Literal["constant", "edge", "reflect"]
MAX_SIDE = 65535


def check_word(name: str, value: object, allowed: Sequence[str]) -> None:
    """Refuse a word that is not among the allowed ones."""
    if value not in allowed:
        raise ValueError(f"{name} is one of {', '.join(map(repr, allowed))}, not {value!r}")


def whole(name: str, value: Any, low: int, high: int) -> int:
    """Return a whole number of a range."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise TypeError(f"{name} is a whole number, not {value!r}")
    if not low <= value <= high:
        raise ValueError(f"{name} is {low} to {high}, not {value}")
    return int(value)


def number(name: str, value: Any, low: float = -math.inf, high: float = math.inf) -> float:
    """Return a finite number of a range."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise TypeError(f"{name} is a number, not {value!r}")
    if not math.isfinite(value) or not low <= value <= high:
        raise ValueError(f"{name} is a number from {low} to {high}, not {value}")
    return float(value)


def size_of(name: str, value: Any) -> tuple[int, int]:
    """Height and width of a square's side or of a pair."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        if len(value) != 2:
            raise ValueError(f"{name} is a side or (height, width), not {value!r}")
        return whole(name, value[0], 1, MAX_SIDE), whole(name, value[1], 1, MAX_SIDE)
    side = whole(name, value, 1, MAX_SIDE)
    return side, side


def interval(
    name: str, value: Any, low: float = -math.inf, high: float = math.inf, *, above: bool = False
) -> tuple[float, float]:
    """Lower and upper end of a range."""
    if not isinstance(value, Sequence) or isinstance(value, str) or len(value) != 2:
        raise TypeError(f"{name} is (lowest, highest), not {value!r}")
    first, last = (number(name, one, low, high) for one in value)
    if first > last or (above and first <= low):
        raise ValueError(f"{name} is (lowest, highest) with {low} {'<' if above else '<='} lowest, not {value!r}")
    return first, last


def per_channel(name: str, value: Any) -> tuple[float, ...] | None:
    """Return numbers for one to four channels."""
    if value is None:
        return None
    if isinstance(value, Sequence | np.ndarray) and not isinstance(value, str):
        if not 1 <= len(value) <= 4:
            raise ValueError(f"{name} has one number for every channel, not {len(value)}")
        return tuple(number(name, one) for one in value)
    return (number(name, value),)


def levels(name: str, value: Any) -> tuple[int, ...]:
    """Return levels of 8 bits for one to four channels."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        if not 1 <= len(value) <= 4:
            raise ValueError(f"{name} has one level for every channel, not {len(value)}")
        return tuple(whole(name, one, 0, 255) for one in value)
    return (whole(name, value, 0, 255),)
