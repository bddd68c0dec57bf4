"""Texts of tensors, as TensorFlow prints and formats them."""

from __future__ import annotations

from typing import Any

import numpy as np

from recordmill.compat.tensorflow.core.tensor import Tensor


def number(value: Any) -> str:
    """Write a number as shortly as six digits allow, or in full."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape")
    if isinstance(value, bool | np.bool_):
        return str(int(value))
    if isinstance(value, np.floating):
        digits = {2: 4, 4: 6}.get(value.itemsize, 15)
        short = f"{float(value):.{digits}g}"
        same = np.isnan(value) or value.dtype.type(float(short)) == value
        return short if same else f"{float(value):.{digits + (3 if digits == 6 else 2)}g}"
    return str(int(value))


def summary(value: Any, summarize: int = 3) -> str:
    """Write a tensor in brackets, long axes by their ends."""
    array = value.values
    return _axis(array, 0, array.ndim, max(array.shape, default=0) if summarize < 0 else summarize)


def _axis(array: Any, depth: int, ndim: int, ends: int) -> str:
    if depth == ndim:
        one: Any = array[()] if isinstance(array, np.ndarray) else array
        return f'"{number(one)}"' if isinstance(one, bytes) else number(one)
    count = len(array)
    shown: list[Any] = list(range(count))
    if count > 2 * ends:
        shown = [*range(ends), None, *range(count - ends, count)]
    between = " " if depth == ndim - 1 else "\n" * (ndim - 1 - depth) + " " * (depth + 1)
    texts = ("..." if at is None else _axis(array[at], depth + 1, ndim, ends) for at in shown)
    return f"[{between.join(texts)}]"


def printed(value: Any, summarize: int = 3) -> str:
    """Write what ``tf.print`` is given."""
    return value if isinstance(value, str) else _shown(value, summarize)


def _shown(value: Any, summarize: int) -> str:
    if isinstance(value, np.ndarray):
        value = Tensor(value)
    if isinstance(value, Tensor):
        return summary(value, summarize)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {_shown(one, summarize)}" for key, one in value.items()) + "}"
    if isinstance(value, list | tuple):
        inner = ", ".join(_shown(one, summarize) for one in value)
        comma = "," if isinstance(value, tuple) and len(value) == 1 else ""
        return f"[{inner}]" if isinstance(value, list) else f"({inner}{comma})"
    return repr(value)
