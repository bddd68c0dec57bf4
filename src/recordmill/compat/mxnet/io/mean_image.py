"""The mean of all images, which is kept in a file beside the program."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.mxnet.base import ParameterError
from recordmill.compat.mxnet.nd import load, save, wrap

Floats = NDArray[np.float32]


def keep_mean(path: str, shape: tuple[int, ...], batches: Callable[[], Iterable[Floats]]) -> Floats:
    """Mean of images of a file, which is written first where there is none.

    Parameters
    ----------
    path : str
        File of one array, as `mx.nd.save` writes it.
    shape : tuple of int
        Of an image.
    batches : callable
        Gives all images, some at a time, where the mean is to be made.

    Returns
    -------
    ndarray of float32

    Raises
    ------
    ParameterError
        A file of several arrays, or an array of another shape.
    """
    if not os.path.exists(path):
        save(path, {"mean_img": wrap(_mean(shape, batches()))})
    arrays = load(path)
    found: Any = list(arrays.values()) if isinstance(arrays, dict) else arrays
    if len(found) != 1 or found[0].shape != shape:
        message, expected = "Invalid mean image file format", f"one array of shape {shape}"
        shapes = ", ".join(str(one.shape) for one in found)
        raise ParameterError(message, kind="bad_shape", shard=path, expected=expected, found=shapes or "no array")
    return np.asarray(found[0], np.float32)


def _mean(shape: tuple[int, ...], batches: Iterable[Floats]) -> Floats:
    """Sum of images, one after another as MXNet adds them, times one over their number."""
    total, count = np.zeros(shape, np.float32), 0
    for batch in batches:
        for image in batch:
            total += image
            count += 1
    mean: Floats = total * (np.float32(1) / np.float32(count))
    return mean
