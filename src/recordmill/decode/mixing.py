"""Images and labels of one batch mixed with one another."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from recordmill.decode.random import Draws, Stage, draw_beta, parse_rng
from recordmill.decode.specs.base import check_number

Arrays = tuple[NDArray[Any], NDArray[np.float32]]
_PLACE = 1024  # number of the stage's first draw after those of the share


def mixup(
    images: NDArray[Any],
    labels: ArrayLike,
    *,
    rng: Draws | int,
    epoch: int = 0,
    position: int = 0,
    alpha: float = 0.2,
    num_classes: int | None = None,
) -> Arrays:
    """Each image mixed with the one before it in the batch, the first with the last; labels in the same shares.

    Parameters
    ----------
    images : ndarray of float16 or float32, shape (n, ...)
    labels : array_like, shape (n,) of class numbers, or (n, num_classes) of shares
    rng : Draws or int
        Draws or a seed.
    epoch : int
        With a seed.
    position : int
        Position in the epoch of the batch's first sample; the share depends on it.
    alpha : float
        The share of the image itself is drawn from Beta(alpha, alpha), once for the batch.
    num_classes : int, optional
        Needed with class numbers.

    Returns
    -------
    images : ndarray of the same dtype and shape
    labels : ndarray of float32, shape (n, num_classes)

    References
    ----------
    Zhang et al., mixup: beyond empirical risk minimization, ICLR 2018.
    """
    if images.dtype not in (np.float16, np.float32):
        raise TypeError(f"images of float16 or float32 are mixed, not of {images.dtype}")
    soft = _soft(labels, len(images), num_classes)
    share = _share(rng, epoch, position, alpha)
    return _mixed(images, share), _mixed(soft, share)


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
) -> Arrays:
    """A rectangle of each image replaced by that of the one before it in the batch; labels in the shares of the areas.

    Parameters
    ----------
    images : ndarray, shape (n, channels, height, width) or (n, height, width, channels)
    labels : array_like, shape (n,) of class numbers, or (n, num_classes) of shares
    rng : Draws or int
        Draws or a seed.
    epoch : int
        With a seed.
    position : int
        Position in the epoch of the batch's first sample; the rectangle depends on it.
    alpha : float
        The share of the image itself is drawn from Beta(alpha, alpha), once for the batch; the rectangle's middle is
        uniform, and what would lie outside is cut off.
    num_classes : int, optional
        Needed with class numbers.
    layout : {"chw", "hwc"}

    Returns
    -------
    images : ndarray of the same dtype and shape
    labels : ndarray of float32, shape (n, num_classes)

    References
    ----------
    Yun et al., CutMix: regularization strategy to train strong classifiers with localizable features, ICCV 2019.
    """
    if images.ndim != 4 or layout not in ("chw", "hwc"):
        raise ValueError(f'images are of four axes and layout is "chw" or "hwc", not {images.shape} and {layout!r}')
    height, width = images.shape[2:] if layout == "chw" else images.shape[1:3]
    soft = _soft(labels, len(images), num_classes)
    share = _share(rng, epoch, position, alpha)
    rows, columns = _rectangle(height, width, share, rng, epoch, position)
    mixed = images.copy()
    part = (..., rows, columns) if layout == "chw" else (slice(None), rows, columns)
    mixed[part] = np.roll(images[part], 1, axis=0)
    area = (rows.stop - rows.start) * (columns.stop - columns.start)
    return mixed, _mixed(soft, 1 - area / max(1, height * width))


def _draws(rng: Draws | int, epoch: int) -> Draws:
    draws = parse_rng(rng, epoch)
    if draws is None:
        raise TypeError("rng is a seed or Draws(seed, epoch), not None")
    return draws


def _share(rng: Draws | int, epoch: int, position: int, alpha: float) -> float:
    return draw_beta(_draws(rng, epoch), position, Stage.MIX, check_number("alpha", alpha, 1e-3, 1e6))


def _mixed(rows: NDArray[Any], share: float) -> NDArray[Any]:
    own = rows.dtype.type(share)
    mixed: NDArray[Any] = own * rows + (rows.dtype.type(1) - own) * np.roll(rows, 1, axis=0)
    return mixed


def _rectangle(
    height: int, width: int, share: float, rng: Draws | int, epoch: int, position: int
) -> tuple[slice, slice]:
    draws, side = _draws(rng, epoch), math.sqrt(1 - share)
    spans = []
    for axis, length in enumerate((height, width)):
        middle = int(draws.integers([position], Stage.MIX, max(1, length), first=_PLACE + axis)[0])
        half = int(length * side) // 2
        spans.append(slice(max(0, middle - half), min(length, middle + half)))
    return spans[0], spans[1]


def _soft(labels: ArrayLike, count: int, num_classes: int | None) -> NDArray[np.float32]:
    given = np.asarray(labels)
    if len(given) != count:
        raise ValueError(f"{count} images have as many labels, not {len(given)}")
    if given.ndim == 2:
        return given.astype(np.float32)
    if given.ndim != 1 or given.dtype.kind not in "iu":
        raise TypeError(f"labels are class numbers or rows of shares, not {given.dtype} of shape {given.shape}")
    if num_classes is None:
        raise ValueError("class numbers need num_classes=")
    if count and not 0 <= given.min() <= given.max() < num_classes:
        raise ValueError(f"class numbers are 0 to {num_classes - 1}, not {given.min()} to {given.max()}")
    soft = np.zeros((count, num_classes), np.float32)
    soft[np.arange(count), given] = 1
    return soft
