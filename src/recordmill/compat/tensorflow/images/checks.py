"""What operations on images take: three axes or four, none of them empty."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.core import dtypes
from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.shapes import TensorShape


def image_of(value: Any) -> NDArray[Any]:
    """Array of one image or of a batch of them."""
    image = array_of(value)
    if image.ndim < 3:
        raise ValueError(f"'image' (shape {TensorShape(image.shape)}) must be at least three-dimensional.")
    if 0 in image.shape[-3:]:
        raise ValueError(f"inner 3 dims of 'image.shape' must be > 0: {TensorShape(image.shape)}")
    if image.ndim > 4:
        refuse_axes(image)
    return image


def refuse_axes(image: NDArray[Any]) -> NoReturn:
    """Raise TensorFlow's error about a number of axes."""
    raise ValueError(f"'image' (shape {TensorShape(image.shape)}) must have either 3 or 4 dimensions.")


def framed(value: Any) -> NDArray[Any]:
    """Array of one image or of a batch of them, for operations on their sides."""
    image = array_of(value)
    return image_of(image) if image.ndim in (3, 4) else refuse_axes(image)


def check_axes(floats: NDArray[Any]) -> None:
    """Refuse what kernels of colours refuse."""
    if floats.ndim < 3:
        shape = ",".join(map(str, floats.shape))
        raise InvalidArgumentError(f"input must be at least 3-D, got shape[{shape}]", kind="bad_shape")


def check_numbers(values: NDArray[Any]) -> None:
    """Refuse images that do not hold numbers."""
    if values.dtype.kind not in "iuf":
        raise AttributeError("image dtype must be either floating point or integer")


def number_of(value: Any) -> Any:
    """A Python number of a scalar tensor, or of a number."""
    return value if isinstance(value, int | float) else array_of(value).item()


def whole(value: Any) -> int:
    """A Python int of a scalar tensor or of a number."""
    return int(value) if isinstance(value, int | np.integer) else int(array_of(value, _integer_of(value)).item())


def _integer_of(value: Any) -> Any:
    dtype = getattr(value, "dtype", None)
    return dtypes.int64 if dtype is None or np.dtype(getattr(dtype, "numpy_dtype", dtype)).kind not in "iu" else dtype
