"""Results of expressions as plain values that JSON keeps, of TensorFlow and of this package alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def describe(compute: Callable[[], Any]) -> Any:
    """Return the value of a call, or the type of the error that it raises, as plain values."""
    try:
        return value(compute())
    except Exception as error:
        return {"raises": type(error).__name__}


def value(found: Any) -> Any:
    """Return a tensor as dtype, shape and values; floating-point numbers in hexadecimal."""
    if hasattr(found, "to_list"):
        return {"ragged": [_plain(one) for one in found.to_list()], "dtype": found.dtype.name}
    if hasattr(found, "numpy") and hasattr(found, "dtype"):
        array = np.asarray(found.numpy(), dtype=object if found.dtype.name == "string" else None)
        shape = [int(one) for one in found.shape]
        return {"dtype": found.dtype.name, "shape": shape, "values": [_plain(one) for one in array.ravel().tolist()]}
    if isinstance(found, list | tuple):
        return [value(one) for one in found]
    if isinstance(found, bool | int | float | str) or found is None:
        return _plain(found)
    return repr(found)


def _plain(one: Any) -> Any:
    if isinstance(one, list):
        return [_plain(inner) for inner in one]
    if isinstance(one, bytes):
        return one.decode("latin-1")
    return float.hex(one) if isinstance(one, float) else one
