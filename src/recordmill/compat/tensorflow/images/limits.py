"""Ranges that random changes of images draw from, and TensorFlow's errors about others."""

from __future__ import annotations

from operator import lt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.core import dtypes
from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError


def _refuse(refused: bool, message: str) -> None:
    if refused:
        raise ValueError(message)


def check_range(max_delta: float) -> None:
    """Refuse a negative amount."""
    _refuse(max_delta < 0, "max_delta must be non-negative.")


def check_hue(max_delta: float) -> None:
    """Refuse an angle beyond half a turn."""
    _refuse(max_delta > 0.5, "max_delta must be <= 0.5.")
    check_range(max_delta)


def check_factors(lower: float, upper: float) -> None:
    """Refuse a range of factors that is none."""
    _refuse(upper <= lower, "upper must be > lower.")
    _refuse(lower < 0, "lower must be non-negative.")


def check_window(min_quality: int, max_quality: int) -> None:
    """Refuse a range of JPEG qualities that is none."""
    beyond = min_quality < 0 or max_quality < 0 or min_quality > 100 or max_quality > 100
    _refuse(beyond, "jpeg encoding range must be between 0 and 100.")
    _refuse(min_quality >= max_quality, "`min_jpeg_quality` must be less than `max_jpeg_quality`.")


def check_size(value: NDArray[Any], size: Any) -> NDArray[np.int64]:
    """Lengths of a part of a tensor."""
    lengths = array_of(size, dtypes.int32).astype(np.int64)
    if lengths.shape != (value.ndim,) or any(map(lt, value.shape, lengths.tolist())):
        message = f"Need value.shape >= size, got {list(value.shape)} {lengths.tolist()}"
        raise InvalidArgumentError(message, kind="bad_shape")
    return lengths
