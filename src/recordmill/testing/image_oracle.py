"""Reference implementation of the steps that transform a decoded image, in NumPy and Pillow.

`apply_plan` has the signature of `recordmill.decode.native_image.apply_plan`. Tests put it in place of the native
function and compare the results. Color steps are native here too; tests compare them with Pillow directly.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.decode import native_image
from recordmill.decode.options import OutputFormat
from recordmill.decode.pillow import import_pillow
from recordmill.decode.pixels import crop_pixels, flip_pixels
from recordmill.decode.plan import ImagePlan
from recordmill.decode.presets import KERNELS
from recordmill.decode.transforms import resize

Pixels = NDArray[Any]
_FIXED_POINT_BITS = 11

# Resize kernels that this module implements. Tests of all other kernels use results recorded from OpenCV, TensorFlow or
# MXNet.
ORACLE_KERNELS = frozenset(
    [f"pillow:{kernel}" for kernel in KERNELS["pillow"]]
    + [f"{library}:{kernel}" for library in ("opencv", "tensorflow") for kernel in ("nearest", "bilinear")]
)


def apply_plan(pixels: Pixels, plan: ImagePlan) -> Pixels:
    """Apply all steps of a plan, except decoding, to a decoded image.

    Parameters
    ----------
    pixels : ndarray of uint8, uint16 or float32, shape (height, width, channels)
        Decoded image. Values of float32 are from 0 to 255, as in uint8.
    plan : ImagePlan
        Plan of one image.

    Returns
    -------
    ndarray of ``plan.output.dtype``
        In the layout of ``plan.output``.
    """
    output = plan.output
    if output.reverse and not plan.colors:
        # Reverse the channels before the border is filled, because the plan has the fill colors in reversed order.
        pixels = pixels[:, :, ::-1] if pixels.shape[2] == 3 else pixels
        output = replace(output, reverse=False)
    brightest = 65535 if pixels.dtype == np.uint16 else 255
    fill_unit = brightest // 255
    white: float = brightest
    if output.scale_first:
        pixels, white = pixels.astype(np.float32) * np.float32(output.white / brightest), output.white
    pixels = _apply_geometry(pixels, plan, fill_unit)
    if plan.colors:
        if pixels.dtype == np.float32:
            pixels = np.clip(np.rint(pixels), 0, 255).astype(np.uint8)
        pixels = native_image.transform_image(pixels, OutputFormat(), colors=plan.colors)
    return format_pixels(pixels, white, output)


def _apply_geometry(pixels: Pixels, plan: ImagePlan, fill_unit: int) -> Pixels:
    numbers = plan.geometry[0].tolist()
    window, (width, height), crop, flips = numbers[:4], numbers[4:6], numbers[6:10], numbers[10:12]
    pixels = crop_pixels(pixels, tuple(window))
    if (height, width) != pixels.shape[:2]:
        pixels = resize_pixels(pixels, (height, width), plan.kernel)
    pixels = crop_pixels(pixels, tuple(crop), plan.mode, _build_fill_per_channel(plan.fill, pixels.shape[2], fill_unit))
    pixels = flip_pixels(pixels, horizontal=bool(flips[0]), vertical=bool(flips[1]))
    if plan.matrix is None:
        return pixels
    fill = _build_fill_per_channel(plan.warp_fill, pixels.shape[2], fill_unit)
    return warp_pixels(pixels, plan.matrix[0], plan.sampling, fill)


def _build_fill_per_channel(levels: tuple[int, ...], channels: int, unit: int) -> tuple[int, ...]:
    return tuple(level * unit for level in (levels if len(levels) == channels else levels * channels))


def resize_pixels(pixels: Pixels, size: tuple[int, int], kernel: str) -> Pixels:
    """Resize an image to (height, width), each channel on its own.

    Kernels that are not in `ORACLE_KERNELS` run in the native module.
    """
    if kernel not in ORACLE_KERNELS:
        return resize(pixels, size, kernel=kernel)
    library, _, name = kernel.partition(":")
    if library == "pillow":
        return _resize_pillow(pixels, size, name)
    if name == "nearest":
        return _resize_nearest(
            pixels, size, _find_opencv_nearest_positions if library == "opencv" else _find_tensorflow_nearest_positions
        )
    return _resize_bilinear_opencv(pixels, size) if library == "opencv" else _resize_bilinear_tensorflow(pixels, size)


def _resize_pillow(pixels: Pixels, size: tuple[int, int], name: str) -> Pixels:
    kernel = getattr(import_pillow().Resampling, name.upper())
    return _apply_pillow(pixels, lambda plane: plane.resize((size[1], size[0]), kernel))


def _resize_nearest(
    pixels: Pixels, size: tuple[int, int], positions: Callable[[int, int], NDArray[np.int64]]
) -> Pixels:
    rows, columns = positions(size[0], pixels.shape[0]), positions(size[1], pixels.shape[1])
    return pixels[rows[:, None], columns]


def _find_opencv_nearest_positions(new: int, old: int) -> NDArray[np.int64]:
    """Map each new pixel to the source pixel at its upper left corner, as in OpenCV's INTER_NEAREST."""
    step = 1 / (new / old)
    positions: NDArray[np.int64] = np.minimum(np.floor(np.arange(new) * step).astype(np.int64), old - 1)
    return positions


def _find_tensorflow_nearest_positions(new: int, old: int) -> NDArray[np.int64]:
    """Map each new pixel to the source pixel at its center, as in TensorFlow's "nearest"."""
    step = np.float32(old) / np.float32(new)
    centers = (np.arange(new, dtype=np.float32) + np.float32(0.5)) * step
    positions: NDArray[np.int64] = np.minimum(np.floor(centers).astype(np.int64), old - 1)
    return positions


def _resize_bilinear_opencv(pixels: Pixels, size: tuple[int, int]) -> Pixels:
    """Resize like OpenCV's INTER_LINEAR, which averages blocks of 2 x 2 pixels if both sides are halved."""
    height, width = pixels.shape[:2]
    if size == (height, width):
        return pixels.copy()
    if pixels.dtype != np.float32 and pixels.shape[2] != 2 and (height, width) == (2 * size[0], 2 * size[1]):
        wide = pixels.astype(np.uint32)
        total = wide[0::2, 0::2] + wide[0::2, 1::2] + wide[1::2, 0::2] + wide[1::2, 1::2]
        halves: Pixels = ((total + 2) >> 2).astype(pixels.dtype)
        return halves
    top, bottom, upper, lower = _find_opencv_neighbors(size[0], height)
    left, right, first, second = _find_opencv_neighbors(size[1], width, clamp_weights=True)
    if pixels.dtype == np.uint8:
        return _resize_fixed_point(pixels, (top, bottom, upper, lower), (left, right, first, second))
    wide = pixels.astype(np.float32)
    rows = wide[:, left] * first[:, None] + wide[:, right] * second[:, None]
    mixed = rows[top] * upper[:, None, None] + rows[bottom] * lower[:, None, None]
    return mixed if pixels.dtype == np.float32 else np.clip(np.rint(mixed), 0, 65535).astype(pixels.dtype)


def _find_opencv_neighbors(
    new: int, old: int, *, clamp_weights: bool = False
) -> tuple[NDArray[np.int64], NDArray[np.int64], Pixels, Pixels]:
    """Return, for interpolation along one axis, two source pixels of each new pixel and their weights.

    Beyond an edge, both source pixels are the outermost pixel. With `clamp_weights`, the first of the two then has the
    whole weight.
    """
    step = 1 / (new / old)
    centers = ((np.arange(new) + 0.5) * step - 0.5).astype(np.float32)
    first = np.floor(centers).astype(np.int64)
    weight = centers - first.astype(np.float32)
    if clamp_weights:
        weight[(first < 0) | (first >= old - 1)] = 0
        first = np.clip(first, 0, old - 1)
    return np.clip(first, 0, old - 1), np.clip(first + 1, 0, old - 1), np.float32(1) - weight, weight


def _resize_fixed_point(pixels: Pixels, vertical: tuple[Pixels, ...], horizontal: tuple[Pixels, ...]) -> Pixels:
    """Interpolate in fixed point with 11-bit weights and with the same bit shifts as OpenCV."""
    (top, bottom, upper, lower), (left, right, first, second) = (
        (*taps[:2], *(np.rint(weight * (1 << _FIXED_POINT_BITS)).astype(np.int32) for weight in taps[2:]))
        for taps in (vertical, horizontal)
    )
    wide = pixels.astype(np.int32)
    rows = (wide[:, left] * first[:, None] + wide[:, right] * second[:, None]) >> 4
    mixed = (rows[top] * upper[:, None, None] >> 16) + (rows[bottom] * lower[:, None, None] >> 16)
    levels: Pixels = np.clip((mixed + 2) >> 2, 0, 255).astype(np.uint8)
    return levels


def _resize_bilinear_tensorflow(pixels: Pixels, size: tuple[int, int]) -> NDArray[np.float32]:
    """Resize like ``tf.image.resize``: with half-pixel centers, without antialiasing, in float32."""
    wide = pixels.astype(np.float32)
    top, bottom, down = _find_tensorflow_neighbors(size[0], pixels.shape[0])
    left, right, across = _find_tensorflow_neighbors(size[1], pixels.shape[1])
    upper, lower = wide[top], wide[bottom]
    high = upper[:, left] + (upper[:, right] - upper[:, left]) * across[:, None]
    low = lower[:, left] + (lower[:, right] - lower[:, left]) * across[:, None]
    mixed: NDArray[np.float32] = high + (low - high) * down[:, None, None]
    return mixed


def _find_tensorflow_neighbors(new: int, old: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float32]]:
    step = np.float32(old) / np.float32(new)
    centers = (np.arange(new, dtype=np.float32) + np.float32(0.5)) * step - np.float32(0.5)
    floor = np.floor(centers)
    first = np.maximum(floor.astype(np.int64), 0)
    last = np.minimum(np.ceil(centers).astype(np.int64), old - 1)
    return first, last, centers - floor


def warp_pixels(pixels: Pixels, matrix: NDArray[np.float64], kernel: str, fill: Sequence[int]) -> Pixels:
    """Apply an affine transform to an image with Pillow; the size does not change."""
    module = import_pillow()
    height, width, channels = pixels.shape
    parts = [pixels] if pixels.dtype == np.uint8 and channels == 3 else np.split(pixels, channels, axis=2)
    fills: list[Any] = [tuple(fill)] if len(parts) == 1 and channels == 3 else list(fill)
    resampling = getattr(module.Resampling, kernel.upper())
    coefficients = tuple(matrix.ravel().tolist())

    def warp(part: Pixels, level: Any) -> Pixels:
        return _apply_pillow(
            part,
            lambda image: image.transform(
                (width, height), module.Transform.AFFINE, coefficients, resample=resampling, fillcolor=level
            ),
        )

    return np.concatenate([warp(part, level) for part, level in zip(parts, fills, strict=True)], axis=2)


def _apply_pillow(pixels: Pixels, function: Callable[[Any], Any]) -> Pixels:
    """Apply a Pillow operation to an array. Pixels of 16 bits are converted to Pillow's float mode F and back."""
    if pixels.dtype == np.uint8 and pixels.shape[2] == 3:
        return np.asarray(function(_to_pillow(pixels)))
    planes = [_apply_pillow_to_plane(pixels[:, :, channel], function) for channel in range(pixels.shape[2])]
    return np.stack(planes, axis=2)


def _apply_pillow_to_plane(plane: Pixels, function: Callable[[Any], Any]) -> Pixels:
    if plane.dtype == np.uint8:
        return np.asarray(function(_to_pillow(plane)))
    result = np.asarray(function(_to_pillow(plane.astype(np.float32))))
    return result if plane.dtype == np.float32 else np.clip(np.rint(result), 0, 65535).astype(np.uint16)


def _to_pillow(pixels: Pixels) -> Any:
    return import_pillow().fromarray(np.ascontiguousarray(pixels))


def format_pixels(pixels: Pixels, brightest: float, output: OutputFormat) -> Pixels:
    """Convert pixels to the output format. A white pixel has the value `brightest`."""
    channels = pixels.shape[2]
    if output.reverse and channels >= 3:
        pixels = pixels[:, :, [2, 1, 0, *range(3, channels)]]
    if output.dtype.startswith("uint"):
        numbers = _convert_to_integers(pixels, brightest, output.dtype)
    else:
        numbers = _normalize(pixels, brightest, output).astype(output.dtype)
    return np.ascontiguousarray(numbers.transpose(2, 0, 1) if output.layout == "chw" else numbers)


def _convert_to_integers(pixels: Pixels, brightest: float, dtype: str) -> Pixels:
    limit = 255 if dtype == "uint8" else 65535
    if pixels.dtype == np.float32:
        scaled = pixels if limit == brightest else pixels * np.float32(limit / brightest)
        rounded: Pixels = np.clip(np.rint(scaled), 0, limit).astype(dtype)
        return rounded
    return pixels.astype(np.uint16) * np.uint16(257) if limit > brightest else pixels.astype(dtype, copy=False)


def _normalize(pixels: Pixels, brightest: float, output: OutputFormat) -> NDArray[np.float32]:
    numbers = pixels.astype(np.float32)
    if output.mean is not None:
        numbers = numbers - np.asarray([mean * (brightest / output.white) for mean in output.mean], np.float32)
    factor = np.float32(output.white / brightest) / np.asarray(output.std or (1.0,), np.float32)
    return numbers * factor if (factor != 1).any() else numbers
