"""Geometric operations and normalization of images in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from recordmill import _core
from recordmill.decode.geometry import GeometryPlan
from recordmill.decode.native_image import image_error, transform_image
from recordmill.decode.options import OutputFormat
from recordmill.decode.pixels import crop_pixels, flip_pixels
from recordmill.decode.plan import Border
from recordmill.decode.presets import Like, parse_kernel, returns_float32
from recordmill.decode.specs.base import PadMode, check_choice, parse_channel_values, parse_levels, parse_size

Pixels = NDArray[Any]
Window = tuple[int, int, int, int]


def _three(array: ArrayLike, *dtypes: str) -> Pixels:
    pixels = np.asarray(array)
    if pixels.ndim not in (2, 3) or 0 in pixels.shape or (pixels.ndim == 3 and pixels.shape[2] > 4):
        raise ValueError(f"an image is (height, width) or (height, width, 1 to 4 channels), not {pixels.shape}")
    if pixels.dtype.name not in dtypes:
        raise TypeError(f"an image of {' or '.join(dtypes)} is needed, not {pixels.dtype}")
    return pixels[:, :, None] if pixels.ndim == 2 else pixels


def _as_given(pixels: Pixels, array: ArrayLike) -> Pixels:
    return np.ascontiguousarray(pixels[:, :, 0] if np.ndim(array) == 2 else pixels)


_ANY = ("uint8", "uint16", "float32")


def resize(array: ArrayLike, size: int | Sequence[int], *, kernel: str | None = None, like: Like = "pillow") -> Pixels:
    """Scale an image to a size; channels do not mix.

    Parameters
    ----------
    array : array_like of uint8, uint16 or float32, shape (height, width), (height, width, channels) or (images, ...)
        With four axes, images of one size, each by itself.
    size : int or (int, int)
        Pixels of a square's side, or height and width.
    kernel : str, optional
        In the words of the library ("bilinear"), or "library:kernel".
    like : {"pillow", "opencv", "tensorflow", "mxnet"}
        Whose arithmetic.

    Returns
    -------
    ndarray
        Of the same dtype, but float32 from TensorFlow's kernels other than the nearest neighbor, as there.

    Raises
    ------
    ValueError, TypeError
        No such kernel, no image.
    """
    wanted, chosen = parse_size("size", size), parse_kernel(kernel, like)
    if np.ndim(array) == 4:
        return resize_images(_images(array, *_ANY), wanted, chosen)
    return _as_given(resize_one(_three(array, *_ANY), wanted, chosen), array)


def _images(array: ArrayLike, *dtypes: str) -> Pixels:
    """Images of one size, if there are any."""
    images = np.asarray(array)
    if images.ndim != 4 or 0 in images.shape[1:] or images.shape[3] > 4:
        raise ValueError(f"images are (images, height, width, 1 to 4 channels), not {images.shape}")
    if images.dtype.name not in dtypes:
        raise TypeError(f"images of {' or '.join(dtypes)} are needed, not {images.dtype}")
    return images


def crop(array: ArrayLike, window: Window, *, mode: PadMode = "constant", fill: int | Sequence[int] = 0) -> Pixels:
    """Take a window of an image, which may reach beyond it.

    Parameters
    ----------
    array : array_like of uint8, uint16 or float32, shape (height, width) or (height, width, channels)
    window : (int, int, int, int)
        x, y, width and height.
    mode : {"constant", "edge", "reflect"}
        What is outside: `fill`, the outermost pixel, or the image mirrored about its outermost pixels.
    fill : int or sequence of int
        0 to 255, one for each channel or one for all.

    Returns
    -------
    ndarray of the same dtype
    """
    check_choice("mode", mode, ("constant", "edge", "reflect"))
    pixels, (x, y, width, height) = _three(array, *_ANY), window
    if min(width, height) < 1:
        raise ValueError(f"a window has pixels, not {width} x {height}")
    return _as_given(crop_pixels(pixels, (x, y, width, height), mode, _fills(fill, pixels)), array)


def _fills(fill: int | Sequence[int], pixels: Pixels) -> tuple[int, ...]:
    one_each, channels = parse_levels("fill", fill), pixels.shape[2]
    if len(one_each) not in (1, channels):
        raise ValueError(f"fill has one level for all or one for each of {channels} channels, not {len(one_each)}")
    unit = 257 if pixels.dtype == np.uint16 else 1
    return tuple(level * unit for level in (one_each if len(one_each) == channels else one_each * channels))


def flip(array: ArrayLike, *, horizontal: bool = True, vertical: bool = False) -> Pixels:
    """Mirror an image.

    Parameters
    ----------
    array : array_like of uint8, uint16 or float32, shape (height, width) or (height, width, channels)
    horizontal, vertical : bool
        Left to right, top to bottom.

    Returns
    -------
    ndarray of the same dtype
    """
    return _as_given(flip_pixels(_three(array, *_ANY), horizontal=horizontal, vertical=vertical), array)


def affine(
    array: ArrayLike,
    matrix: ArrayLike,
    *,
    kernel: Literal["nearest", "bilinear"] = "nearest",
    fill: int | Sequence[int] = 0,
) -> Pixels:
    """Sample an image through an affine map; its size stays.

    Parameters
    ----------
    array : array_like of uint8, uint16 or float32, shape (height, width) or (height, width, channels)
    matrix : array_like of float, shape (2, 3)
        From places (x, y) in the result to places in `array`; the first pixel reaches from 0 to 1.
    kernel : {"nearest", "bilinear"}
    fill : int or sequence of int
        0 to 255, where the map leaves the image.

    Returns
    -------
    ndarray of the same dtype and shape
    """
    check_choice("kernel", kernel, ("nearest", "bilinear"))
    numbers, pixels = np.asarray(matrix, np.float64), _three(array, *_ANY)
    if numbers.shape != (2, 3) or not np.isfinite(numbers).all():
        raise ValueError(f"a matrix is 2 x 3 finite numbers, not {numbers.shape}")
    _fills(fill, pixels)
    geometry = replace(GeometryPlan.identity([pixels.shape[1::-1]]), matrices=numbers[None])
    border = Border(warp_kernel=kernel, warp_fill=parse_levels("fill", fill))
    white = 65535.0 if pixels.dtype == np.uint16 else 255.0
    moved = transform_image(pixels, OutputFormat(pixels.dtype.name, white=white), geometry=geometry, border=border)
    return _as_given(moved, array)


def normalize(
    array: ArrayLike,
    mean: float | Sequence[float] | None = None,
    std: float | Sequence[float] | None = None,
    *,
    white: float = 1.0,
    dtype: Literal["float16", "float32"] = "float32",
    layout: Literal["chw", "hwc"] = "hwc",
) -> Pixels:
    """Levels to fractions: less the mean, divided by the deviation.

    Parameters
    ----------
    array : array_like of uint8 or uint16, shape (height, width) or (height, width, channels)
        float32 is taken for levels from 0 to 255.
    mean, std : float or sequence of float, optional
        In units of `white`.
    white : float
        What the brightest level (255, or 65,535 of uint16) becomes.
    dtype : {"float16", "float32"}
    layout : {"chw", "hwc"}

    Returns
    -------
    ndarray
        ``(level - mean * brightest / white) * ((white / brightest) / std)`` in float32, then rounded to `dtype`.
    """
    check_choice("dtype", dtype, ("float16", "float32"))
    check_choice("layout", layout, ("chw", "hwc"))
    pixels, means, deviations = (
        _three(array, *_ANY),
        parse_channel_values("mean", mean),
        parse_channel_values("std", std),
    )
    for name, numbers in (("mean", means), ("std", deviations)):
        if numbers is not None and len(numbers) not in (1, pixels.shape[2]):
            raise ValueError(f"{name} has one number or {pixels.shape[2]}, not {len(numbers)}")
    if deviations is not None and min(deviations) <= 0:
        raise ValueError(f"std is above 0, not {std}")
    how = OutputFormat(dtype, layout, False, means, deviations, white)
    done = transform_image(pixels, how)
    return done.reshape(np.shape(array)) if np.ndim(array) == 2 else done


_DTYPES = ("uint8", "uint16", "float32")


def resize_boxes(
    array: ArrayLike,
    boxes: ArrayLike,
    images: ArrayLike,
    size: int | Sequence[int],
    *,
    kernel: Literal["bilinear", "nearest"] = "bilinear",
    fill: float = 0.0,
) -> NDArray[np.float32]:
    """Cut boxes out of images and scale them to one size.

    Parameters
    ----------
    array : array_like of uint8, uint16 or float32, shape (images, height, width, channels)
        Any number of channels.
    boxes : array_like of float, shape (boxes, 4)
        ``ymin, xmin, ymax, xmax``; 0 and 1 are the middles of the first and of the last pixel. They may lie beyond, and
        turn an image around.
    images : array_like of int, shape (boxes,)
        The image of each box.
    size : int or (int, int)
        Pixels of a square's side, or height and width.
    kernel : {"bilinear", "nearest"}
    fill : float
        Of places beyond the image.

    Returns
    -------
    ndarray of float32, shape (boxes, *size, channels)
        Equal to ``tf.image.crop_and_resize``.

    Raises
    ------
    TypeError
        Another dtype.
    ValueError
        Shapes that do not go together, an image that is not there.
    """
    pixels: NDArray[Any] = np.asarray(array)
    places, chosen = np.asarray(boxes, np.float32), np.asarray(images, np.int64)
    wanted = parse_size("size", size)
    check_choice("kernel", kernel, ("bilinear", "nearest"))
    _check(pixels, places, chosen)
    flat = (np.ascontiguousarray(one).reshape(-1) for one in (pixels, places, chosen))
    values, corners, numbers = flat
    beside = (wanted, kernel == "nearest", fill)
    try:
        made = _core.cut_boxes(values, pixels.dtype.name, pixels.shape[1:], corners, numbers, *beside)
    except _core.ImageRefused as refused:
        raise image_error(refused.args) from None
    return np.asarray(made).reshape(len(chosen), *wanted, pixels.shape[3])


def _check(pixels: NDArray[Any], places: NDArray[Any], chosen: NDArray[Any]) -> None:
    if pixels.dtype.name not in _DTYPES:
        raise TypeError(f"images of {' or '.join(_DTYPES)} are needed, not {pixels.dtype}")
    if pixels.ndim != 4 or 0 in pixels.shape[1:]:
        raise ValueError(f"images are (images, height, width, channels), not {pixels.shape}")
    if chosen.ndim != 1 or places.shape != (len(chosen), 4):
        raise ValueError(f"boxes are (boxes, 4) and their images (boxes,), not {places.shape} and {chosen.shape}")
    if len(chosen) and not 0 <= chosen.min() <= chosen.max() < len(pixels):
        found = chosen.min() if chosen.min() < 0 else chosen.max()
        raise ValueError(f"images of boxes are 0 to {len(pixels) - 1}, not {found}")
    if not np.isfinite(places).all():
        raise ValueError("places of boxes are finite numbers")


Matrix = NDArray[np.float64]
WarpKernel = Literal["nearest", "bilinear", "cubic", "lanczos4"]


def warp_affine(
    array: ArrayLike,
    matrix: ArrayLike,
    size: int | Sequence[int],
    *,
    kernel: WarpKernel = "bilinear",
    fill: int | Sequence[int] = 0,
    inverse: bool = False,
) -> NDArray[np.uint8]:
    """Move an image by an affine map, as ``cv2.warpAffine`` does.

    Parameters
    ----------
    array : array_like of uint8, shape (height, width) or (height, width, 1 to 4 channels)
    matrix : array_like of float, shape (2, 3)
        From places (x, y) in `array` to places in the result; the center of the first pixel is (0, 0).
    size : int or (int, int)
        Pixels of a square's side, or height and width of the result.
    kernel : {"nearest", "bilinear", "cubic", "lanczos4"}
    fill : int or sequence of int
        0 to 255, one for each channel or one for all: what is outside of the image.
    inverse : bool
        Whether `matrix` leads from the result to `array`.

    Returns
    -------
    ndarray of uint8, shape (*size) or (*size, channels)
        Equal to OpenCV 3.4 and 4 (up to 4.11), whose places and weights have a fixed number of bits; later ones use
        floats.

    Raises
    ------
    ValueError, TypeError
        No image, no map, no such kernel.
    """
    check_choice("kernel", kernel, ("nearest", "bilinear", "cubic", "lanczos4"))
    numbers, pixels, wanted = _matrix(matrix), _image(array), parse_size("size", size)
    fills = parse_levels("fill", fill)
    if len(fills) not in (1, pixels.shape[2]):
        raise ValueError(f"fill has one level for all or one for each of {pixels.shape[2]} channels, not {len(fills)}")
    back = numbers if inverse else invert_affine(numbers)
    four = (fills * 4 if len(fills) == 1 else (*fills, 0, 0, 0))[:4]
    try:
        made = _core.warp_fixed(pixels.reshape(-1), pixels.shape, wanted, back.ravel().tolist(), kernel, four)
    except _core.ImageRefused as refused:
        raise image_error(refused.args) from None
    shape = wanted if np.ndim(array) == 2 else (*wanted, pixels.shape[2])
    moved: NDArray[np.uint8] = np.asarray(made).reshape(shape)
    return moved


def invert_affine(matrix: Matrix) -> Matrix:
    """Turn a map around, with the order of operations of OpenCV; a map that has no inverse becomes zeros."""
    (a, b, c), (d, e, f) = matrix.tolist()
    size = a * e - b * d
    unit = 1 / size if size else 0.0
    a, b, d, e = e * unit, b * -unit, d * -unit, a * unit
    return np.array([[a, b, -a * c - b * f], [d, e, -d * c - e * f]])


def _matrix(matrix: ArrayLike) -> Matrix:
    numbers = np.asarray(matrix, np.float64)
    if numbers.shape != (2, 3) or not np.isfinite(numbers).all():
        raise ValueError(f"a matrix is 2 x 3 finite numbers, not {numbers.shape}")
    return numbers


def _image(array: ArrayLike) -> NDArray[Any]:
    pixels = np.asarray(array)
    if pixels.dtype != np.uint8:
        raise TypeError(f"an image of uint8 is needed, not of {pixels.dtype}")
    if pixels.ndim not in (2, 3) or 0 in pixels.shape or (pixels.ndim == 3 and pixels.shape[2] > 4):
        raise ValueError(f"an image is (height, width) or (height, width, 1 to 4 channels), not {pixels.shape}")
    return np.ascontiguousarray(pixels[:, :, None] if pixels.ndim == 2 else pixels)


def resize_images(images: NDArray[Any], size: tuple[int, int], kernel: str) -> NDArray[Any]:
    """Scale images of one size in memory, each as `resize_one` does it."""
    if returns_float32(kernel):
        return resize_floats(images, size, kernel)
    out = np.empty((len(images), *size, images.shape[3]), images.dtype)
    for image, place in zip(images, out, strict=True):
        place[...] = resize_one(image, size, kernel)
    return out


def resize_one(pixels: NDArray[Any], size: tuple[int, int], kernel: str) -> NDArray[Any]:
    """Scale one image in memory as a plan for a batch would."""
    if kernel.endswith(":nearest"):
        return _picked(pixels, size, kernel)
    if returns_float32(kernel) or (pixels.dtype == np.float32 and kernel.startswith("opencv:")):
        return resize_floats(pixels, size, kernel)
    target = np.array([[0, 0, size[1], size[0]]])
    geometry = replace(GeometryPlan.identity([pixels.shape[1::-1]]), resized=target[:, 2:], crops=target)
    white = 65535.0 if pixels.dtype == np.uint16 else 255.0
    return transform_image(pixels, OutputFormat(pixels.dtype.name, white=white), geometry=geometry, kernel=kernel)


def _picked(pixels: NDArray[Any], size: tuple[int, int], kernel: str) -> NDArray[Any]:
    flat, shape = np.ascontiguousarray(pixels).reshape(-1), pixels.shape
    try:
        made: Any = _core.pick_pixels(flat, pixels.dtype.name, shape, size, kernel)
    except _core.ImageRefused as refused:
        raise image_error(refused.args) from None
    return np.frombuffer(made, pixels.dtype).reshape(*size, shape[2])


def resize_floats(pixels: NDArray[Any], size: tuple[int, int], kernel: str) -> NDArray[np.float32]:
    """Scale images by a kernel that gives floats, or floats by one of OpenCV's."""
    flat, shape = np.ascontiguousarray(pixels).reshape(-1), pixels.shape
    try:
        made = _core.resize_floats(flat, pixels.dtype.name, shape[-3:], size, kernel)
    except _core.ImageRefused as refused:
        raise image_error(refused.args) from None
    return np.asarray(made).reshape(*shape[:-3], *size, shape[-1])
