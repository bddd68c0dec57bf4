"""Moves of pixels that random operations decide about."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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
    return chosen_of(turned, pixels, np.rint(chances) > 0)


def chosen_of(first: NDArray[Any], second: NDArray[Any], are_first: Iterable[bool | np.bool_]) -> NDArray[Any]:
    """Batch of some images of one batch and the others of another.

    Parameters
    ----------
    first, second : ndarray of one shape and dtype
    are_first : iterable of bool
        For each image.

    Returns
    -------
    ndarray of the same dtype and shape
    """
    out = np.empty(second.shape, second.dtype)
    for row, is_first in enumerate(are_first):
        put(out[row], (first if is_first else second)[row])
    return out


def window(values: NDArray[Any], first: Sequence[int], lengths: Sequence[int]) -> NDArray[Any]:
    """Part of an array, as a view.

    Parameters
    ----------
    values : ndarray
    first, lengths : sequence of int, one for each axis

    Returns
    -------
    ndarray of the same dtype
    """
    return values[tuple(slice(start, start + length) for start, length in zip(first, lengths, strict=True))]


def sliced(values: NDArray[Any], first: Sequence[int], lengths: Sequence[int]) -> NDArray[Any]:
    """Part of an array, side by side in memory; see `window`."""
    return np.ascontiguousarray(window(values, first, lengths))
