"""``tf.image.convert_image_dtype``, ``adjust_brightness``, ``rgb_to_grayscale`` and other changes of pixel values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

import recordmill as rm
from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.dtypes import as_dtype
from recordmill.compat.tensorflow.core.errors import FailedPreconditionError, InvalidArgumentError
from recordmill.compat.tensorflow.core.tensor import Tensor, as_tensor
from recordmill.compat.tensorflow.images.arguments import to_number
from recordmill.compat.tensorflow.ops.cast import convert_numbers, saturate_cast

Floats = NDArray[Any]

_FLOAT32 = np.dtype(np.float32)
_GRAYSCALE_WEIGHTS = (0.2989, 0.587, 0.114)
_IMAGE_AXES = (-3, -2, -1)


@op("image.convert_image_dtype")
def convert_image_dtype(image: Any, dtype: Any, saturate: bool = False, name: str | None = None) -> Tensor:
    """``tf.image.convert_image_dtype``: convert to `dtype`; rescale to [0, 1] (floats) or [0, maximum] (integers)."""
    tensor, wanted = as_tensor(image), as_dtype(dtype)
    for kind, one in (("dtype", wanted), ("image dtype", tensor.dtype)):
        if not (one.is_floating or one.is_integer):
            raise AttributeError(f"{kind} must be floating point or integer, got {one.name}")
    return Tensor(scale_to_dtype(tensor.values, wanted.numpy_dtype, saturate=saturate))


def scale_to_dtype(values: NDArray[Any], dtype: np.dtype[Any], *, saturate: bool = False) -> NDArray[Any]:
    """Convert the pixel values of an array to `dtype`, and scale them as ``tf.image.convert_image_dtype`` does."""
    if values.dtype == dtype:
        return values
    cast = _clip_to_dtype_limits if saturate else convert_numbers
    if values.dtype.kind == "f":
        if dtype.kind == "f":
            return values.astype(dtype)
        with np.errstate(over="ignore", invalid="ignore"):
            scaled = values * values.dtype.type(np.iinfo(dtype).max + 0.5)
        return cast(scaled, dtype)
    brightest = int(np.iinfo(values.dtype).max)
    with np.errstate(over="ignore", invalid="ignore"):
        if dtype.kind == "f":
            floats: NDArray[Any] = values.astype(dtype) * dtype.type(1.0 / brightest)
            return floats
        wanted = int(np.iinfo(dtype).max)
        if brightest > wanted:
            return cast(values // values.dtype.type((brightest + 1) // (wanted + 1)), dtype)
        integers: NDArray[Any] = cast(values, dtype) * dtype.type((wanted + 1) // (brightest + 1))
        return integers


def _clip_to_dtype_limits(values: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    with np.errstate(over="ignore"):  # Converting the limits of int32 to float16 overflows.
        return saturate_cast(values, dtype).values


@op("image.adjust_brightness")
def adjust_brightness(image: Any, delta: Any) -> Tensor:
    """``tf.image.adjust_brightness``: add `delta`; integers are scaled to [0, 1] for the addition."""
    amount = to_number(delta)
    return _apply_to_floats(image, lambda floats: floats + floats.dtype.type(amount), saturate=True)


@op("image.adjust_contrast")
def adjust_contrast(images: Any, contrast_factor: Any) -> Tensor:
    """``tf.image.adjust_contrast``: multiply each value's deviation from the mean of its channel by a factor."""
    factor = np.float32(to_number(contrast_factor))

    def scale_contrast(floats: Floats) -> Floats:
        _check_min_three_dimensions(floats)
        values = floats.astype(np.float32, copy=False)
        with np.errstate(invalid="ignore", over="ignore"):
            means = _compute_channel_means(values)
            return ((values - means) * factor + means).astype(floats.dtype, copy=False)

    return _apply_to_floats(images, scale_contrast, saturate=True)


@op("image.adjust_gamma")
def adjust_gamma(image: Any, gamma: Any = 1, gain: Any = 1) -> Tensor:
    """``tf.image.adjust_gamma``: return ``gain * image ** gamma``; integers are scaled to [0, 1] first."""
    power, factor = to_number(gamma), to_number(gain)
    if power < 0:
        raise ValueError(f"gamma must be a non-negative number, got {power}")

    def apply_gamma(floats: Floats) -> Floats:
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            raised: Floats = floats.dtype.type(factor) * floats ** floats.dtype.type(power)
        return raised

    return _apply_to_floats(image, apply_gamma, saturate=True)


@op("image.adjust_saturation")
def adjust_saturation(image: Any, saturation_factor: Any) -> Tensor:
    """``tf.image.adjust_saturation``: multiply the saturation of colors by a factor."""
    factor = to_number(saturation_factor)
    return _apply_to_colors(image, lambda colors: rm.adjust_saturation(colors, factor, like="tensorflow"))


@op("image.adjust_hue")
def adjust_hue(image: Any, delta: Any) -> Tensor:
    """``tf.image.adjust_hue``: rotate the hue of colors by `delta` turns."""
    amount = to_number(delta)
    if not -1 <= amount <= 1:
        raise ValueError(f"delta must be in [-1, 1], got {amount}")
    return _apply_to_colors(image, lambda colors: rm.adjust_hue(colors, amount, like="tensorflow"))


@op("image.per_image_standardization")
def per_image_standardization(image: Any) -> Tensor:
    """``tf.image.per_image_standardization``: subtract the mean and divide by ``max(std, 1 / sqrt(num_values))``."""
    values = array_of(image)
    if values.ndim < 3 or 0 in values.shape[-3:]:
        raise ValueError(f"image must have at least 3 dimensions and must not be empty, got shape {values.shape}")
    mean = values.mean(_IMAGE_AXES, np.float64, keepdims=True).astype(np.float32)
    centered = values.astype(np.float32) - mean
    deviation = np.sqrt(np.square(centered, dtype=np.float64).mean(_IMAGE_AXES, keepdims=True)).astype(np.float32)
    count = np.float32(np.prod(values.shape[-3:]))
    return Tensor(centered / np.maximum(deviation, np.float32(1) / np.sqrt(count)))


@op("image.rgb_to_grayscale")
def rgb_to_grayscale(images: Any) -> Tensor:
    """``tf.image.rgb_to_grayscale``: convert colors to one channel of luma."""
    values = array_of(images)
    _check_numeric_dtype(values)
    if not values.ndim or values.shape[-1] != 3:
        raise InvalidArgumentError(f"images must have 3 channels, got shape {values.shape}", kind="bad_shape")
    floats = scale_to_dtype(values, _FLOAT32)
    gray = np.zeros(values.shape[:-1], np.float32)
    for channel, weight in enumerate(_GRAYSCALE_WEIGHTS):
        gray += floats[..., channel] * np.float32(weight)
    return Tensor(scale_to_dtype(gray[..., None], values.dtype))


@op("image.grayscale_to_rgb")
def grayscale_to_rgb(images: Any) -> Tensor:
    """``tf.image.grayscale_to_rgb``: repeat the gray channel three times."""
    values = array_of(images)
    if values.ndim < 2 or values.shape[-1] != 1:
        raise ValueError(f"images must have shape (..., 1), got {values.shape}")
    return Tensor(np.repeat(values, 3, axis=-1))


@op("image.rgb_to_hsv")
def rgb_to_hsv(images: Any) -> Tensor:
    """``tf.image.rgb_to_hsv``: convert colors to hue, saturation and value, always in float32."""
    return _convert_color_space(images, rm.rgb_to_hsv)


@op("image.hsv_to_rgb")
def hsv_to_rgb(images: Any) -> Tensor:
    """``tf.image.hsv_to_rgb``: convert hue, saturation and value to colors, always in float32."""
    return _convert_color_space(images, rm.hsv_to_rgb)


def _convert_color_space(images: Any, change: Callable[[Floats], Floats]) -> Tensor:
    values = array_of(images)
    if not isinstance(images, Tensor) and values.dtype.kind in "iuf":
        values = values.astype(np.float32)
    if values.dtype.kind != "f":
        raise InvalidArgumentError(f"images must have a floating-point dtype, got {values.dtype}", kind="bad_dtype")
    if not values.ndim:
        raise InvalidArgumentError("images must have at least 1 dimension, got a scalar", kind="bad_shape")
    if values.shape[-1] != 3:
        raise FailedPreconditionError(f"images must have 3 channels, got shape {values.shape}")
    return Tensor(change(values.astype(np.float32, copy=False)).astype(values.dtype, copy=False))


def _apply_to_floats(image: Any, change: Callable[[Floats], Floats], *, saturate: bool) -> Tensor:
    """Convert an image to floats, apply a function, and convert the result back to the image's dtype."""
    values = array_of(image)
    _check_numeric_dtype(values)
    is_direct = values.dtype in (np.float16, np.float32)
    floats = values if is_direct else scale_to_dtype(values, _FLOAT32)
    return Tensor(scale_to_dtype(change(floats), values.dtype, saturate=saturate))


def _apply_to_colors(image: Any, change: Callable[[Floats], Floats]) -> Tensor:
    """Apply `change`, a function of uint8 or float32 colors, to an image of any dtype."""
    values = array_of(image)

    def change_rgb_colors(colors: Floats) -> Floats:
        _check_min_three_dimensions(colors)
        if colors.shape[-1] != 3:
            raise InvalidArgumentError(f"image must have 3 channels, got shape {colors.shape}", kind="bad_shape")
        if colors.dtype == np.float16:
            return change(colors.astype(np.float32)).astype(np.float16)
        return change(colors)

    if values.dtype == np.uint8:
        return Tensor(change_rgb_colors(values))
    return _apply_to_floats(values, change_rgb_colors, saturate=False)


def _check_numeric_dtype(values: NDArray[Any]) -> None:
    if values.dtype.kind not in "iuf":
        raise AttributeError(f"image dtype must be floating point or integer, got {values.dtype}")


def _check_min_three_dimensions(values: Floats) -> None:
    if values.ndim < 3:
        raise InvalidArgumentError(f"image must have at least 3 dimensions, got shape {values.shape}", kind="bad_shape")


def _compute_channel_means(images: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the mean of each channel; sum pixels pairwise as TensorFlow does, so that the rounding is the same."""
    *batch, height, width, channels = images.shape
    sums = images.reshape(*batch, height * width, channels)
    while (count := sums.shape[-2]) > 1:
        half = count // 2
        rest = count - half
        left = sums[..., :rest, :].copy()
        left[..., :half, :] += sums[..., rest:, :]
        sums = left
    return (sums * np.float32(1 / (height * width))).reshape(*batch, 1, 1, channels)
