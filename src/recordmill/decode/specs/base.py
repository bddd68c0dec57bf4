"""The base class of specs and the checks of their fields."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import MISSING, fields
from typing import Any, Literal

import numpy as np

Small = Literal["error", "pad", "enlarge"]
PadMode = Literal["constant", "edge", "reflect"]
MAX_SIDE = 65535


class Spec:
    """Base class of specs, which are immutable dataclasses. The repr omits default values."""

    __slots__ = ()

    def __repr__(self) -> str:
        """Return an expression that creates an equal spec."""
        arguments: list[str] = []
        for field in fields(self):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            if field.default is MISSING:
                arguments.append(f"{field.name}={value!r}" if arguments else repr(value))
            elif value != field.default:
                arguments.append(f"{field.name}={value!r}")
        return f"{type(self).__name__}({', '.join(arguments)})"

    def _set_fields(self, **values: Any) -> None:
        """Set fields of this frozen dataclass to values that were checked."""
        for name, value in values.items():
            object.__setattr__(self, name, value)


def check_choice(name: str, value: object, choices: Sequence[str]) -> None:
    """Raise ValueError unless the value is one of the choices."""
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, got {value!r}")


def check_int(name: str, value: Any, low: int, high: int) -> int:
    """Check that a value is an integer from `low` to `high`, and return it as int."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise TypeError(f"{name} must be an integer, got {value!r}")
    if not low <= value <= high:
        raise ValueError(f"{name} must be from {low} to {high}, got {value}")
    return int(value)


def check_number(name: str, value: Any, low: float = -math.inf, high: float = math.inf) -> float:
    """Check that a value is a finite number from `low` to `high`, and return it as float."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise TypeError(f"{name} must be a number, got {value!r}")
    if not math.isfinite(value) or not low <= value <= high:
        raise ValueError(f"{name} must be a finite number from {low} to {high}, got {value}")
    return float(value)


def parse_size(name: str, value: Any) -> tuple[int, int]:
    """Convert a size option to (height, width). One integer stands for a square."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        if len(value) != 2:
            raise ValueError(f"{name} must be an integer or (height, width), got {value!r}")
        return check_int(name, value[0], 1, MAX_SIDE), check_int(name, value[1], 1, MAX_SIDE)
    side = check_int(name, value, 1, MAX_SIDE)
    return side, side


def parse_range(
    name: str, value: Any, low: float = -math.inf, high: float = math.inf, *, exclude_low: bool = False
) -> tuple[float, float]:
    """Convert an option (lowest, highest) to floats; check that both numbers are from `low` to `high`."""
    if not isinstance(value, Sequence) or isinstance(value, str) or len(value) != 2:
        raise TypeError(f"{name} must be a pair (lowest, highest), got {value!r}")
    first, last = (check_number(name, one, low, high) for one in value)
    if first > last or (exclude_low and first <= low):
        relation = "<" if exclude_low else "<="
        raise ValueError(f"{name} must be a pair with {low} {relation} lowest <= highest, got {value!r}")
    return first, last


def parse_channel_values(name: str, value: Any) -> tuple[float, ...] | None:
    """Convert one number, or a sequence of 1 to 4 numbers (one per channel), to a tuple; return None for None."""
    if value is None:
        return None
    if isinstance(value, Sequence | np.ndarray) and not isinstance(value, str):
        if not 1 <= len(value) <= 4:
            raise ValueError(f"{name} must have 1 to 4 values, got {len(value)}")
        return tuple(check_number(name, one) for one in value)
    return (check_number(name, value),)


def parse_levels(name: str, value: Any) -> tuple[int, ...]:
    """Convert one 8-bit level, or a sequence of 1 to 4 levels (one per channel), to a tuple."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        if not 1 <= len(value) <= 4:
            raise ValueError(f"{name} must have 1 to 4 levels, got {len(value)}")
        return tuple(check_int(name, one, 0, 255) for one in value)
    return (check_int(name, value, 0, 255),)
