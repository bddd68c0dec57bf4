"""Conversion and validation of the arguments of image operations."""

from __future__ import annotations

from operator import index
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dtypes import DType, as_dtype
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError, UnimplementedError
from recordmill.errors import RecordmillError


def to_image(value: Any) -> NDArray[Any]:
    """Convert one image or a batch of images to an array; raise ValueError for other shapes and empty images."""
    image = array_of(value)
    if image.ndim not in (3, 4):
        raise ValueError(f"image must have 3 or 4 dimensions, got shape {image.shape}")
    if 0 in image.shape[-3:]:
        raise ValueError(f"image must not be empty, got shape {image.shape}")
    return image


def to_number(value: Any) -> Any:
    """Convert a scalar, which may be a tensor, to a Python number."""
    return value if isinstance(value, int | float) else array_of(value).item()


def to_integer(value: Any) -> int:
    """Convert an integer scalar, which may be a tensor, to int; raise TypeError for floats."""
    return value if isinstance(value, int) else index(array_of(value).item())


def check_dtype(name: str, value: Any, allowed: tuple[DType, ...]) -> np.dtype[Any]:
    """Return the NumPy dtype for `value`; raise InvalidArgumentError unless it is one of `allowed`."""
    dtype = as_dtype(value)
    if dtype not in allowed:
        raise_invalid(f"{name} must be one of {', '.join(one.name for one in allowed)}, got {dtype.name}")
    return dtype.numpy_dtype


def raise_invalid(message: str, cause: RecordmillError | None = None) -> NoReturn:
    """Raise InvalidArgumentError with `message`. For an unsupported format, raise UnimplementedError instead."""
    if cause is None:
        raise InvalidArgumentError(message, kind="bad_argument")
    details = cause.message
    if cause.found is not None:
        details += f" (expected {cause.expected}, found {cause.found})"
    if cause.hint:
        details += f"; {cause.hint}"
    error = UnimplementedError if cause.kind == "unsupported" else InvalidArgumentError
    raise error(message, kind=cause.kind or "bad_image", offset=cause.offset, hint=details) from cause
