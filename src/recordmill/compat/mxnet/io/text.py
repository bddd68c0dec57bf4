"""What iterators over numbers in text files share: shapes of their rows, and how digits become float32."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.mxnet.base import ParameterError


def read_lengths(name: str, value: Any) -> tuple[int, ...]:
    """Shape of a row, of the value of a parameter.

    Parameters
    ----------
    name : str
        Of the parameter.
    value : int, sequence of int, or str

    Returns
    -------
    tuple of int

    Raises
    ------
    ParameterError
        No whole numbers of 1 or more.
    """
    parts = value.strip("()[] ").rstrip(",").split(",") if isinstance(value, str) else value
    try:
        shape = tuple(int(part) for part in ((parts,) if isinstance(parts, int) else parts))
    except (TypeError, ValueError) as error:
        message = f"Invalid Parameter format for {name} expect Shape(tuple) but value='{value}'"
        raise ParameterError(message, kind="bad_parameter", expected="Shape(tuple)", found=repr(value)) from error
    if not shape or min(shape) < 1:
        raise ParameterError(f"{name} has lengths of 1 or more", kind="bad_parameter", found=str(shape))
    return shape


def rounded_apart(values: NDArray[np.float64], dtype: Any = np.float32) -> NDArray[Any]:
    """Numbers whose digits in front of the point and behind it are rounded apart, and then together, as MXNet does.

    Parameters
    ----------
    values : ndarray of float64
    dtype : dtype

    Returns
    -------
    ndarray
    """
    whole = np.where(np.isfinite(values), np.trunc(values), 0)
    with np.errstate(over="ignore"):
        found: NDArray[Any] = whole.astype(dtype) + (values - whole).astype(dtype)
    return found
