"""Moves of pixels that random operations decide about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.pixel_copies import laid_out, put
from recordmill.compat.tensorflow.images.checks import image_of


def mirrored(image: NDArray[Any], axis: int, chances: NDArray[np.float32]) -> NDArray[Any]:
    """Mirror one image or some of a batch.

    Parameters
    ----------
    image : ndarray, shape (height, width, channels) or (batch, height, width, channels)
    axis : {-3, -2}
    chances : ndarray of float32, shape () or (batch,)
        From 0 to 1: below a half a single image is mirrored, above it one of a batch, as in TensorFlow.

    Returns
    -------
    ndarray of the same dtype and shape
    """
    pixels = image_of(image)
    turned = np.flip(pixels, axis)
    if pixels.ndim == 3:
        return laid_out(turned) if chances < 0.5 else pixels
    moved = np.rint(chances) > 0
    out = np.empty(pixels.shape, pixels.dtype)
    for number, target in enumerate(out):
        put(target, turned[number] if moved[number] else pixels[number])
    return out


def sliced(values: NDArray[Any], first: Sequence[int], lengths: Sequence[int]) -> NDArray[Any]:
    """Part of an array.

    Parameters
    ----------
    values : ndarray
    first, lengths : sequence of int, one for each axis

    Returns
    -------
    ndarray of the same dtype
    """
    ranges = zip(first, lengths, strict=True)
    return np.ascontiguousarray(values[tuple(slice(start, start + length) for start, length in ranges)])
