"""Modules behind functions: each place in a program that calls one keeps its own, as in OneFlow's older graphs."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")
_MADE: dict[tuple[Any, ...], Any] = {}


def kept(make: Callable[..., T], **options: Any) -> T:
    """Module of the place from which the function that asks was called, made at its first call."""
    caller = sys._getframe(2)
    key = (caller.f_code.co_filename, caller.f_lineno, caller.f_lasti, make, repr(options))
    if key not in _MADE:
        _MADE[key] = make(**options)
    found: T = _MADE[key]
    return found
