"""Mix the images and labels of a batch: mixup and CutMix."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from recordmill.decode.random import Draws, Stage, draw_beta, parse_rng
from recordmill.decode.specs.base import check_number
from recordmill.suggestions import suggest_arguments

_FIRST_RECTANGLE_NUMBER = 1024  # Random numbers with index 0 to 1023 are reserved for the mixing weight.


@suggest_arguments
def mixup(
    images: NDArray[Any],
    labels: ArrayLike,
    *,
    rng: Draws | int,
    epoch: int = 0,
    position: int = 0,
    alpha: float = 0.2,
    num_classes: int | None = None,
) -> tuple[NDArray[Any], NDArray[np.float32]]:
    """Blend each image and label with the previous ones in the batch. The first image is blended with the last.

    Parameters
    ----------
    images : ndarray of float16 or float32, shape (n, ...)
    labels : array_like
        Class numbers of shape (n,), or weights of shape (n, num_classes).
    rng : Draws or int
        Random numbers, or a seed.
    epoch : int
        Epoch; used with a seed only.
    position : int
        Position in the epoch of the batch's first sample, which determines the random numbers.
    alpha : float
        The weight of each image is drawn from Beta(alpha, alpha), once per batch.
    num_classes : int, optional
        Number of classes; required with class numbers.

    Returns
    -------
    images : ndarray
        Images of the same dtype and shape.
    labels : ndarray of float32, shape (n, num_classes)
        Weight of each class.

    Raises
    ------
    TypeError
        If `images`, `labels` or `rng` has another type.
    ValueError
        If the lengths differ, a class number is out of range, or `num_classes` is missing.

    References
    ----------
    Zhang et al., mixup: beyond empirical risk minimization, ICLR 2018.
    """
    if images.dtype not in (np.float16, np.float32):
        raise TypeError(f"images must have dtype float16 or float32, got {images.dtype}")
    weights = _labels_to_weights(labels, len(images), num_classes)
    share = _draw_mixing_share(_parse_draws(rng, epoch), position, alpha)
    return _blend_with_previous(images, share), _blend_with_previous(weights, share)


@suggest_arguments
def cutmix(
    images: NDArray[Any],
    labels: ArrayLike,
    *,
    rng: Draws | int,
    epoch: int = 0,
    position: int = 0,
    alpha: float = 1.0,
    num_classes: int | None = None,
    layout: Literal["chw", "hwc"] = "chw",
) -> tuple[NDArray[Any], NDArray[np.float32]]:
    """Paste a rectangle of the previous image into each image, and blend the labels in proportion to the areas.

    Parameters
    ----------
    images : ndarray, shape (n, channels, height, width) or (n, height, width, channels)
    labels : array_like
        Class numbers of shape (n,), or weights of shape (n, num_classes).
    rng : Draws or int
        Random numbers, or a seed.
    epoch : int
        Epoch; used with a seed only.
    position : int
        Position in the epoch of the batch's first sample, which determines the random numbers.
    alpha : float
        The area that each image keeps is drawn from Beta(alpha, alpha), once per batch. The center of the rectangle is
        uniform, and the rectangle is clipped to the image.
    num_classes : int, optional
        Number of classes; required with class numbers.
    layout : str
        Order of the axes of `images`. Either "chw" or "hwc".

    Returns
    -------
    images : ndarray
        Images of the same dtype and shape.
    labels : ndarray of float32, shape (n, num_classes)
        Weight of each class.

    Raises
    ------
    TypeError
        If `labels` or `rng` has another type.
    ValueError
        If a shape or the layout is invalid, a class number is out of range, or `num_classes` is missing.

    References
    ----------
    Yun et al., CutMix: regularization strategy to train strong classifiers with localizable features, ICCV 2019.
    """
    if images.ndim != 4 or layout not in ("chw", "hwc"):
        raise ValueError(
            f'images must have four axes and layout must be "chw" or "hwc", got shape {images.shape} and {layout!r}'
        )
    height, width = images.shape[2:] if layout == "chw" else images.shape[1:3]
    weights = _labels_to_weights(labels, len(images), num_classes)
    draws = _parse_draws(rng, epoch)
    rows, columns = _draw_rectangle(height, width, _draw_mixing_share(draws, position, alpha), draws, position)
    mixed = images.copy()
    rectangle = (..., rows, columns) if layout == "chw" else (slice(None), rows, columns)
    mixed[rectangle] = np.roll(images[rectangle], 1, axis=0)
    area = (rows.stop - rows.start) * (columns.stop - columns.start)
    return mixed, _blend_with_previous(weights, 1 - area / max(1, height * width))


def _parse_draws(rng: Draws | int, epoch: int) -> Draws:
    draws = parse_rng(rng, epoch)
    if draws is None:
        raise TypeError("rng must be a seed or Draws(seed, epoch), got None")
    return draws


def _draw_mixing_share(draws: Draws, position: int, alpha: float) -> float:
    return draw_beta(draws, position, Stage.MIX, check_number("alpha", alpha, 1e-3, 1e6))


def _blend_with_previous(rows: NDArray[Any], share: float) -> NDArray[Any]:
    own = rows.dtype.type(share)
    blended: NDArray[Any] = own * rows + (rows.dtype.type(1) - own) * np.roll(rows, 1, axis=0)
    return blended


def _draw_rectangle(height: int, width: int, share: float, draws: Draws, position: int) -> tuple[slice, slice]:
    """Draw the rectangle of CutMix; return the slices of its rows and columns.

    Before the rectangle is clipped to the image, its area is 1 - `share` times the area of the image.
    """
    side, spans = math.sqrt(1 - share), []
    for axis, length in enumerate((height, width)):
        center = int(draws.integers([position], Stage.MIX, max(1, length), first=_FIRST_RECTANGLE_NUMBER + axis)[0])
        half = int(length * side) // 2
        spans.append(slice(max(0, center - half), min(length, center + half)))
    return spans[0], spans[1]


def _labels_to_weights(labels: ArrayLike, count: int, num_classes: int | None) -> NDArray[np.float32]:
    """Convert labels to weights of shape (images, classes)."""
    values = np.asarray(labels)
    if len(values) != count:
        raise ValueError(f"labels must have one entry for each of {count} images, got {len(values)}")
    if values.ndim == 2:
        return values.astype(np.float32)
    if values.ndim != 1 or values.dtype.kind not in "iu":
        raise TypeError(f"labels must be class numbers or rows of weights, got {values.dtype} of shape {values.shape}")
    if num_classes is None:
        raise ValueError("num_classes is required if labels are class numbers")
    if count and not 0 <= values.min() <= values.max() < num_classes:
        raise ValueError(f"class numbers must be from 0 to {num_classes - 1}, got {values.min()} to {values.max()}")
    weights = np.zeros((count, num_classes), np.float32)
    weights[np.arange(count), values] = 1
    return weights
