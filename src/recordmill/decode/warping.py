"""Images through affine maps as OpenCV makes them: another size, and pixel centers that are whole numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from recordmill import _core
from recordmill.decode.executors.native_one import image_error
from recordmill.decode.specs.checks import check_word, levels, size_of

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
    check_word("kernel", kernel, ("nearest", "bilinear", "cubic", "lanczos4"))
    numbers, pixels, wanted = _matrix(matrix), _image(array), size_of("size", size)
    fills = levels("fill", fill)
    if len(fills) not in (1, pixels.shape[2]):
        raise ValueError(f"fill has one level for all or one for each of {pixels.shape[2]} channels, not {len(fills)}")
    back = numbers if inverse else inverted(numbers)
    four = (fills * 4 if len(fills) == 1 else (*fills, 0, 0, 0))[:4]
    try:
        made = _core.warp_fixed(pixels.reshape(-1), pixels.shape, wanted, back.ravel().tolist(), kernel, four)
    except _core.ImageRefused as refused:
        raise image_error(refused.args) from None
    shape = wanted if np.ndim(array) == 2 else (*wanted, pixels.shape[2])
    moved: NDArray[np.uint8] = np.asarray(made).reshape(shape)
    return moved


def inverted(matrix: Matrix) -> Matrix:
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
