"""Levels of images between dtypes: of decoders, and ``tf.image.convert_image_dtype``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.dtypes import as_dtype
from recordmill.compat.tensorflow.core.tensor import Tensor, as_tensor
from recordmill.compat.tensorflow.ops.cast import convert_numbers as converted, saturate_cast


def eight_bits_as(pixels: NDArray[np.uint8], dtype: np.dtype[Any]) -> NDArray[Any]:
    """8-bit levels as a decoder gives them in another dtype."""
    if dtype == np.uint16:
        return pixels.astype(np.uint16) * np.uint16(256)
    return pixels if dtype == np.uint8 else pixels.astype(np.float32) * np.float32(1 / 255)


def sixteen_bits_as(pixels: NDArray[np.uint16], dtype: np.dtype[Any]) -> NDArray[Any]:
    """16-bit levels as a decoder gives them in another dtype."""
    return pixels if dtype == np.uint16 else pixels.astype(np.float32) * np.float32(1 / 65535)


def _saturated(values: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    with np.errstate(over="ignore"):  # limits beyond the largest float16
        return saturate_cast(values, dtype).values


@op("image.convert_image_dtype")
def convert_image_dtype(image: Any, dtype: Any, saturate: bool = False, name: str | None = None) -> Tensor:
    """Convert the dtype and scale the values: floats span 0 to 1, integers 0 to their maximum."""
    tensor, wanted = as_tensor(image), as_dtype(dtype)
    if not (wanted.is_floating or wanted.is_integer):
        raise AttributeError("dtype must be either floating point or integer")
    if not (tensor.dtype.is_floating or tensor.dtype.is_integer):
        raise AttributeError("image dtype must be either floating point or integer")
    return Tensor(converted_levels(tensor.values, wanted.numpy_dtype, saturate=saturate))


def converted_levels(values: NDArray[Any], dtype: np.dtype[Any], *, saturate: bool = False) -> NDArray[Any]:
    """`convert_image_dtype` of an array."""
    if values.dtype == dtype:
        return values
    change = _saturated if saturate else converted
    if values.dtype.kind == "f":
        if dtype.kind == "f":
            return values.astype(dtype)
        with np.errstate(over="ignore", invalid="ignore"):
            scaled = values * values.dtype.type(np.iinfo(dtype).max + 0.5)
        return change(scaled, dtype)
    brightest = int(np.iinfo(values.dtype).max)
    if dtype.kind == "f":
        with np.errstate(over="ignore", invalid="ignore"):
            levels: NDArray[Any] = values.astype(dtype) * dtype.type(1.0 / brightest)
        return levels
    new = int(np.iinfo(dtype).max)
    if brightest > new:
        return change(values // values.dtype.type((brightest + 1) // (new + 1)), dtype)
    with np.errstate(over="ignore"):
        grown: NDArray[Any] = change(values, dtype) * dtype.type((new + 1) // (brightest + 1))
    return grown
