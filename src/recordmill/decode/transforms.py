"""Resize, crop, flip, warp and normalize images in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from recordmill import _core
from recordmill.decode.geometry import GeometryPlan
from recordmill.decode.native_image import native_image_errors, transform_image
from recordmill.decode.options import OutputFormat
from recordmill.decode.pixels import Window, crop_pixels, flip_pixels
from recordmill.decode.plan import Border
from recordmill.decode.presets import Like, parse_kernel, returns_float32
from recordmill.decode.specs.base import PadMode, check_choice, parse_channel_values, parse_levels, parse_size
from recordmill.suggestions import suggest_arguments

Pixels = NDArray[Any]
_DTYPES = ("uint8", "uint16", "float32")


@suggest_arguments
def resize(array: ArrayLike, size: int | Sequence[int], *, kernel: str | None = None, like: Like = "pillow") -> Pixels:
    """Resize an image, or several images of one size. Each channel is resized independently.

    Parameters
    ----------
    array : array_like of uint8, uint16 or float32
        Shape (height, width), (height, width, channels) or (images, height, width, channels), 1 to 4 channels.
    size : int or (int, int)
        Side of a square, or (height, width), in pixels.
    kernel : str, optional
        Resize kernel: a name from the library of `like`, such as "bilinear", or "library:kernel".
    like : str
        Framework whose arithmetic is used. One of "pillow", "opencv", "tensorflow" or "mxnet".

    Returns
    -------
    ndarray
        Resized images of the same dtype; float32 with TensorFlow's kernels other than "nearest", as in TensorFlow.

    Raises
    ------
    ValueError
        If the kernel is unknown or the array has another shape.
    TypeError
        If the array has another dtype.
    LimitError
        If the result is too large.

    Examples
    --------
    >>> rm.resize(np.zeros((48, 64, 3), np.uint8), (24, 32)).shape
    (24, 32, 3)
    """
    height_width, kernel = parse_size("size", size), parse_kernel(kernel, like)
    if np.ndim(array) != 4:
        return _restore_axes(_resize_image(_check_image(array), height_width, kernel), array)
    images = np.asarray(array)
    if 0 in images.shape[1:] or images.shape[3] > 4:
        raise ValueError(f"array must have shape (images, height, width, 1 to 4 channels), got {images.shape}")
    _check_dtype(images)
    if returns_float32(kernel):
        return _resize_floats(images, height_width, kernel)
    resized = np.empty((len(images), *height_width, images.shape[3]), images.dtype)
    for image, target in zip(images, resized, strict=True):
        target[...] = _resize_image(image, height_width, kernel)
    return resized


def _resize_image(pixels: Pixels, size: tuple[int, int], kernel: str) -> Pixels:
    if kernel.endswith(":nearest"):
        flat, shape = np.ascontiguousarray(pixels).reshape(-1), pixels.shape
        with native_image_errors():
            block: Any = _core.pick_pixels(flat, pixels.dtype.name, shape, size, kernel)
        return np.frombuffer(block, pixels.dtype).reshape(*size, shape[2])
    if returns_float32(kernel) or (pixels.dtype == np.float32 and kernel.startswith("opencv:")):
        return _resize_floats(pixels, size, kernel)
    target = np.array([[0, 0, size[1], size[0]]])
    geometry = replace(GeometryPlan.identity([pixels.shape[1::-1]]), resized=target[:, 2:], crops=target)
    return transform_image(pixels, _build_output_format(pixels), geometry=geometry, kernel=kernel)


def _resize_floats(pixels: Pixels, size: tuple[int, int], kernel: str) -> NDArray[np.float32]:
    """Resize one or several images, and return float32."""
    flat, shape = np.ascontiguousarray(pixels).reshape(-1), pixels.shape
    with native_image_errors():
        block = _core.resize_floats(flat, pixels.dtype.name, shape[-3:], size, kernel)
    return np.asarray(block).reshape(*shape[:-3], *size, shape[-1])


@suggest_arguments
def resize_boxes(
    array: ArrayLike,
    boxes: ArrayLike,
    images: ArrayLike,
    size: int | Sequence[int],
    *,
    kernel: Literal["bilinear", "nearest"] = "bilinear",
    fill: float = 0.0,
) -> NDArray[np.float32]:
    """Crop each box from its image, and resize all crops to the same size.

    Parameters
    ----------
    array : array_like of uint8, uint16 or float32, shape (images, height, width, channels)
        Images with any number of channels.
    boxes : array_like of float, shape (boxes, 4)
        ``ymin, xmin, ymax, xmax``, where 0 is the center of the first pixel and 1 that of the last. Boxes may reach
        beyond the image; a minimum above the maximum flips the crop.
    images : array_like of int, shape (boxes,)
        Index of the image of each box.
    size : int or (int, int)
        Side of a square, or (height, width), in pixels.
    kernel : str
        Interpolation. Either "bilinear" or "nearest".
    fill : float
        Value of pixels outside the image.

    Returns
    -------
    ndarray of float32, shape (boxes, *size, channels)
        Equal to ``tf.image.crop_and_resize``.

    Raises
    ------
    TypeError
        If `array` has another dtype.
    ValueError
        If the shapes do not match, an index is out of range, or a coordinate is not finite.
    """
    pixels: Pixels = np.asarray(array)
    coordinates, indices = np.asarray(boxes, np.float32), np.asarray(images, np.int64)
    height_width = parse_size("size", size)
    check_choice("kernel", kernel, ("bilinear", "nearest"))
    _check_boxes(pixels, coordinates, indices)
    flat, flat_boxes, flat_indices = (np.ascontiguousarray(one).reshape(-1) for one in (pixels, coordinates, indices))
    shape, nearest = pixels.shape, kernel == "nearest"
    with native_image_errors():
        block = _core.cut_boxes(
            flat, pixels.dtype.name, shape[1:], flat_boxes, flat_indices, height_width, nearest, fill
        )
    return np.asarray(block).reshape(len(indices), *height_width, shape[3])


def _check_boxes(pixels: Pixels, boxes: NDArray[Any], indices: NDArray[Any]) -> None:
    _check_dtype(pixels)
    if pixels.ndim != 4 or 0 in pixels.shape[1:]:
        raise ValueError(f"array must have shape (images, height, width, channels), got {pixels.shape}")
    if indices.ndim != 1 or boxes.shape != (len(indices), 4):
        raise ValueError(f"boxes and images must have shapes (n, 4) and (n,), got {boxes.shape} and {indices.shape}")
    if len(indices) and not 0 <= indices.min() <= indices.max() < len(pixels):
        found = indices.min() if indices.min() < 0 else indices.max()
        raise ValueError(f"each image index in `images` must be from 0 to {len(pixels) - 1}, got {found}")
    if not np.isfinite(boxes).all():
        raise ValueError("boxes must contain only finite numbers")


@suggest_arguments
def crop(array: ArrayLike, window: Window, *, mode: PadMode = "constant", fill: int | Sequence[int] = 0) -> Pixels:
    """Crop a window of an image; a window that reaches beyond the image is padded.

    Parameters
    ----------
    array : array_like of uint8, uint16 or float32, shape (height, width) or (height, width, channels)
    window : (int, int, int, int)
        x, y, width and height in pixels.
    mode : str
        Content of the padding: "constant" is `fill`, "edge" the nearest edge pixel, "reflect" the image mirrored about
        its edge pixels.
    fill : int or sequence of int
        Level from 0 to 255; one for all channels, or one per channel. Multiplied by 257 for uint16.

    Returns
    -------
    ndarray of the same dtype

    Raises
    ------
    ValueError
        If the window is empty or an option has an invalid value.
    TypeError
        If the array has another dtype.

    Examples
    --------
    >>> rm.crop(np.zeros((48, 64, 3), np.uint8), (10, 5, 32, 16)).shape
    (16, 32, 3)
    """
    check_choice("mode", mode, ("constant", "edge", "reflect"))
    pixels, (x, y, width, height) = _check_image(array), window
    if min(width, height) < 1:
        raise ValueError(f"width and height of the window must be at least 1, got {width} x {height}")
    levels = _check_fill(fill, pixels.shape[2])
    unit = 257 if pixels.dtype == np.uint16 else 1
    return _restore_axes(crop_pixels(pixels, (x, y, width, height), mode, [level * unit for level in levels]), array)


@suggest_arguments
def flip(array: ArrayLike, *, horizontal: bool = True, vertical: bool = False) -> Pixels:
    """Flip an image.

    Parameters
    ----------
    array : array_like of uint8, uint16 or float32, shape (height, width) or (height, width, channels)
    horizontal : bool
        Whether to flip left to right.
    vertical : bool
        Whether to flip top to bottom.

    Returns
    -------
    ndarray of the same dtype and shape

    Raises
    ------
    ValueError
        If the array has another shape.
    TypeError
        If the array has another dtype.

    Examples
    --------
    >>> rm.flip(np.array([[1, 2], [3, 4]], np.uint8))
    array([[2, 1],
           [4, 3]], dtype=uint8)
    """
    return _restore_axes(flip_pixels(_check_image(array), horizontal=horizontal, vertical=vertical), array)


@suggest_arguments
def affine(
    array: ArrayLike,
    matrix: ArrayLike,
    *,
    kernel: Literal["nearest", "bilinear"] = "nearest",
    fill: int | Sequence[int] = 0,
) -> Pixels:
    """Sample an image through an affine map, as Pillow does. The result has the size of the image.

    Parameters
    ----------
    array : array_like of uint8, uint16 or float32, shape (height, width) or (height, width, channels)
    matrix : array_like of float, shape (2, 3)
        Map from coordinates (x, y) in the result to coordinates in `array`. The first pixel extends from 0 to 1.
    kernel : str
        Interpolation. Either "nearest" or "bilinear".
    fill : int or sequence of int
        Level, from 0 to 255, of pixels outside the image; one for all channels, or one per channel. Multiplied by 257
        for uint16.

    Returns
    -------
    ndarray of the same dtype and shape

    Raises
    ------
    ValueError
        If the array or the matrix has another shape, or an option has an invalid value.
    TypeError
        If the array has another dtype.
    """
    check_choice("kernel", kernel, ("nearest", "bilinear"))
    coefficients, pixels = _check_matrix(matrix), _check_image(array)
    border = Border(warp_kernel=kernel, warp_fill=_check_fill(fill, pixels.shape[2]))
    geometry = replace(GeometryPlan.identity([pixels.shape[1::-1]]), matrices=coefficients[None])
    return _restore_axes(transform_image(pixels, _build_output_format(pixels), geometry=geometry, border=border), array)


@suggest_arguments
def warp_affine(
    array: ArrayLike,
    matrix: ArrayLike,
    size: int | Sequence[int],
    *,
    kernel: Literal["nearest", "bilinear", "cubic", "lanczos4"] = "bilinear",
    fill: int | Sequence[int] = 0,
    inverse: bool = False,
) -> NDArray[np.uint8]:
    """Apply an affine map to an image, as ``cv2.warpAffine`` does.

    Parameters
    ----------
    array : array_like of uint8, shape (height, width) or (height, width, 1 to 4 channels)
    matrix : array_like of float, shape (2, 3)
        Map from coordinates (x, y) in `array` to coordinates in the result. The center of the first pixel is (0, 0).
    size : int or (int, int)
        Size of the result: side of a square, or (height, width), in pixels.
    kernel : str
        Interpolation. One of "nearest", "bilinear", "cubic" or "lanczos4".
    fill : int or sequence of int
        Level, from 0 to 255, of pixels outside the image; one for all channels, or one per channel.
    inverse : bool
        Whether `matrix` maps from the result to `array`.

    Returns
    -------
    ndarray of uint8, shape (*size) or (*size, channels)
        Equal to OpenCV 3.4 and 4 up to 4.11, which compute coordinates and weights in fixed point; later versions use
        floats.

    Raises
    ------
    ValueError
        If the array or the matrix has another shape, or an option has an invalid value.
    TypeError
        If the array is not of uint8.
    """
    check_choice("kernel", kernel, ("nearest", "bilinear", "cubic", "lanczos4"))
    coefficients, height_width = _check_matrix(matrix), parse_size("size", size)
    pixels = np.ascontiguousarray(_check_image(array, ("uint8",)))
    levels = _check_fill(fill, pixels.shape[2])
    from_result = coefficients if inverse else invert_affine(coefficients)
    with native_image_errors():
        block = _core.warp_fixed(
            pixels.reshape(-1),
            pixels.shape,
            height_width,
            from_result.ravel().tolist(),
            kernel,
            (*levels, 0, 0, 0)[:4],
        )
    return _restore_axes(np.asarray(block).reshape(*height_width, pixels.shape[2]), array)


def invert_affine(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """Invert an affine map with OpenCV's arithmetic, to get the same rounding. A singular map yields all zeros."""
    (a, b, c), (d, e, f) = matrix.tolist()
    determinant = a * e - b * d
    factor = 1 / determinant if determinant else 0.0
    a, b, d, e = e * factor, b * -factor, d * -factor, a * factor
    return np.array([[a, b, -a * c - b * f], [d, e, -d * c - e * f]])


@suggest_arguments
def normalize(
    array: ArrayLike,
    mean: float | Sequence[float] | None = None,
    std: float | Sequence[float] | None = None,
    *,
    white: float = 1.0,
    dtype: Literal["float16", "float32"] = "float32",
    layout: Literal["chw", "hwc"] = "hwc",
) -> Pixels:
    """Convert pixel values to floats, subtract the mean and divide by the standard deviation.

    Parameters
    ----------
    array : array_like of uint8, uint16 or float32, shape (height, width) or (height, width, channels)
        Levels. Levels in float32 are from 0 to 255.
    mean, std : float or sequence of float, optional
        One value, or one per channel, in units of `white`.
    white : float
        Value of the brightest level: 255, or 65,535 for uint16.
    dtype : str
        Dtype of the result. Either "float16" or "float32".
    layout : str
        Channels first or last. Either "chw" or "hwc".

    Returns
    -------
    ndarray
        ``(level - mean * brightest / white) * ((white / brightest) / std)`` in float32, then rounded to `dtype`.

    Raises
    ------
    ValueError
        If the array has another shape, or an option has an invalid value.
    TypeError
        If the array has another dtype.
    """
    check_choice("dtype", dtype, ("float16", "float32"))
    check_choice("layout", layout, ("chw", "hwc"))
    pixels, means, deviations = (
        _check_image(array),
        parse_channel_values("mean", mean),
        parse_channel_values("std", std),
    )
    for name, values in (("mean", means), ("std", deviations)):
        if values is not None and len(values) not in (1, pixels.shape[2]):
            raise ValueError(f"{name} must have 1 or {pixels.shape[2]} values, got {len(values)}")
    if deviations is not None and min(deviations) <= 0:
        raise ValueError(f"std must be above 0, got {std}")
    normalized = transform_image(pixels, OutputFormat(dtype, layout, mean=means, std=deviations, white=white))
    return normalized.reshape(np.shape(array)) if np.ndim(array) == 2 else normalized


def _check_image(array: ArrayLike, dtypes: Sequence[str] = _DTYPES) -> Pixels:
    """Return an image as an array with three axes; raise TypeError or ValueError if its dtype or shape is invalid."""
    pixels = np.asarray(array)
    if pixels.ndim not in (2, 3) or 0 in pixels.shape or (pixels.ndim == 3 and pixels.shape[2] > 4):
        raise ValueError(
            f"array must have shape (height, width) or (height, width, 1 to 4 channels), got {pixels.shape}"
        )
    _check_dtype(pixels, dtypes)
    return pixels[:, :, None] if pixels.ndim == 2 else pixels


def _check_dtype(pixels: Pixels, dtypes: Sequence[str] = _DTYPES) -> None:
    if pixels.dtype.name not in dtypes:
        raise TypeError(f"array must have dtype {' or '.join(dtypes)}, got {pixels.dtype}")


def _check_matrix(matrix: ArrayLike) -> NDArray[np.float64]:
    coefficients = np.asarray(matrix, np.float64)
    if coefficients.shape != (2, 3):
        raise ValueError(f"matrix must have shape (2, 3), got {coefficients.shape}")
    if not np.isfinite(coefficients).all():
        raise ValueError(f"matrix must contain only finite numbers, got {coefficients.tolist()}")
    return coefficients


def _check_fill(fill: int | Sequence[int], channels: int) -> tuple[int, ...]:
    """Convert `fill` to one value per channel; raise ValueError if the number of values is wrong."""
    levels = parse_levels("fill", fill)
    if len(levels) not in (1, channels):
        raise ValueError(f"fill must have 1 or {channels} values, got {len(levels)}")
    return levels if len(levels) == channels else levels * channels


def _restore_axes(pixels: Pixels, array: ArrayLike) -> Pixels:
    """Remove the channel axis of `pixels` if `array` has only two axes."""
    return np.ascontiguousarray(pixels[:, :, 0] if np.ndim(array) == 2 else pixels)


def _build_output_format(pixels: Pixels) -> OutputFormat:
    """Return the `OutputFormat` that keeps the dtype and the value range of an image."""
    return OutputFormat(pixels.dtype.name, white=65535.0 if pixels.dtype == np.uint16 else 255.0)
