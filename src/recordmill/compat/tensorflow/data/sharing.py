"""Calls that are noted once though a function makes them several times, as for two views of one picture."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from recordmill.compat.tensorflow.core.dtypes import DType
from recordmill.compat.tensorflow.data.recorded import Recorded
from recordmill.compat.tensorflow.data.rules import RULES

_PLAIN = (bool, int, str, bytes, DType, type(None))


def key_of(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Hashable | None:
    """What two calls have in common that give the same."""
    if name not in RULES and not name.startswith("io.decode_"):
        return None
    try:
        return name, _key(args), tuple((key, _key(kwargs[key])) for key in sorted(kwargs))
    except TypeError:
        return None


def _key(value: Any) -> Hashable:
    if isinstance(value, Recorded):
        return Recorded, value.number
    if isinstance(value, list | tuple):
        return tuple, *map(_key, value)
    if isinstance(value, float):
        return float, repr(value)  # zeros have signs
    if type(value) in _PLAIN:
        return type(value), value
    raise TypeError(value)
