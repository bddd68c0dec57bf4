"""Compare cropped, flipped and normalized images with their sources, by the colors of an 8 x 8 grid.

Resize kernels, and thus pixels, differ between libraries. Mean colors of squares of 28 x 28 pixels hardly differ, but
they reveal another window, channel order, layout or normalization.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np

from benches.steps import MEAN, SIDE, STD, center_box
from benches.tasks.base import Recipe

_GRID = 8
# Maximum difference of the squares of a center crop from Pillow's, in 8-bit levels: on average, and of one square.
_MAX_MEAN, _MAX_ONE = 2.5, 16.0
# Random crops resemble their sources only on average. Both bounds are therefore widened, by amounts that decrease with
# the square root of the number of images.
_MAX_SHIFT, _MIN_CORRELATION = 8.0, 0.7
_CONTRAST = (0.4, 1.1)


class Likeness:
    """Collects labels, grid colors, shapes and dtypes of delivered batches.

    Parameters
    ----------
    recipe : {"crop", "crop-uint8", "center"}
    """

    def __init__(self, recipe: Recipe) -> None:
        self._recipe = recipe
        self._labels: list[np.ndarray] = []
        self._grids: list[np.ndarray] = []
        self._kinds: set[str] = set()

    def add(self, images: Any, labels: Any) -> None:
        """Add a batch.

        Parameters
        ----------
        images : ndarray, shape (n, 224, 224, 3) or (n, 3, 224, 224)
        labels : ndarray, shape (n,)
        """
        images = np.asarray(images)
        self._kinds.add(f"{images.dtype} {sorted(images.shape[1:])}")
        self._labels.append(np.asarray(labels).reshape(-1).astype(np.int64))
        self._grids.append(self._colors(images if images.shape[-1] == 3 else images.transpose(0, 2, 3, 1)))

    def _colors(self, images: np.ndarray) -> np.ndarray:
        edge = SIDE // _GRID
        grid = images.reshape(-1, _GRID, edge, _GRID, edge, 3).mean((2, 4), dtype=np.float32)
        return grid if self._recipe == "crop-uint8" else grid * np.float32(STD) + np.float32(MEAN)

    def save(self, path: str) -> None:
        """Save the collected data to a file.

        Parameters
        ----------
        path : str
        """
        labels, grids = np.concatenate(self._labels), np.concatenate(self._grids)
        np.savez(path, labels=labels, grids=grids, kinds=sorted(self._kinds))


def find_fault(sources: tuple[np.ndarray, np.ndarray], path: str, recipe: Recipe) -> str | None:
    """Describe what is wrong with delivered images, which may have any order.

    Parameters
    ----------
    sources : (ndarray, ndarray)
        Labels of all sources, shape (n,), and colors of their centers, shape (n, 8, 8, 3).
    path : str
        File that `Likeness.save` wrote.
    recipe : {"crop", "crop-uint8", "center"}

    Returns
    -------
    str or None
        None if every source was delivered once, with the right shape, dtype and colors.
    """
    with np.load(path) as delivered:
        labels, grids, kinds = delivered["labels"], delivered["grids"], delivered["kinds"].tolist()
    kind = f"{'uint8' if recipe == 'crop-uint8' else 'float32'} {sorted((SIDE, SIDE, 3))}"
    if kinds != [kind]:
        return f"images must be {kind}, got {' and '.join(kinds)}"
    if not np.array_equal(np.sort(labels), np.sort(sources[0])):
        return f"{len(labels)} images whose labels are not those of the {len(sources[0])} sources"
    return (_find_center_fault if recipe == "center" else _find_crop_fault)(sources, labels, grids)


def _find_center_fault(sources: tuple[np.ndarray, np.ndarray], labels: np.ndarray, grids: np.ndarray) -> str | None:
    """Match each image with the most similar unused source of its label; return a fault if they differ too much."""
    left: dict[int, list[np.ndarray]] = defaultdict(list)
    for label, grid in zip(sources[0].tolist(), sources[1], strict=True):
        left[label].append(grid)
    for number, (label, grid) in enumerate(zip(labels.tolist(), grids, strict=True)):
        differences = [np.abs(grid - source) for source in left[label]]
        best = min(range(len(differences)), key=lambda place: float(differences[place].mean()))
        mean, most = float(differences[best].mean()), float(differences[best].max())
        if mean > _MAX_MEAN or most > _MAX_ONE:
            return f"image {number} differs by {mean:.1f} levels on average, {most:.1f} at most, from its source"
        del left[label][best]
    return None


def _find_crop_fault(sources: tuple[np.ndarray, np.ndarray], labels: np.ndarray, grids: np.ndarray) -> str | None:
    """Compare mean color, contrast and the color of each label; return a fault if all images are center crops."""
    allowed = _MAX_SHIFT + 60 / np.sqrt(len(labels))
    shift = float(np.abs(grids.mean((0, 1, 2)) - sources[1].mean((0, 1, 2))).max())
    if shift > allowed:
        return f"colors differ by {shift:.1f} levels on average from those of the sources, {allowed:.1f} are allowed"
    contrast = float(grids.std((1, 2)).mean() / sources[1].std((1, 2)).mean())
    if not _CONTRAST[0] <= contrast <= _CONTRAST[1]:
        return f"contrast is {contrast:.2f} times that of the sources"
    pairs = zip(_mean_by_label(*sources), _mean_by_label(labels, grids), strict=True)
    correlations = [float(np.corrcoef(theirs, delivered)[0, 1]) for theirs, delivered in pairs]
    if min(correlations) < _MIN_CORRELATION - 3 / np.sqrt(len(labels)):
        return f"colors of labels correlate by {min(correlations):.2f} with those of their sources"
    if _find_center_fault(sources, labels, grids) is None:
        return "every image is the center of its source"
    return None


def _mean_by_label(labels: np.ndarray, grids: np.ndarray) -> np.ndarray:
    """Return mean red, green and blue of each label, shape (3, num_labels)."""
    _, places, counts = np.unique(labels, return_inverse=True, return_counts=True)
    return np.array([np.bincount(places, color) / counts for color in grids.mean((1, 2)).T])


def centers(rows: list[tuple[str, int]], kept: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the labels of the sources and the colors of their center crops by Pillow; computed once.

    Parameters
    ----------
    rows : list of (str, int)
        Path and label of each source.
    kept : str
        File in which the result is kept.

    Returns
    -------
    labels : ndarray of int64, shape (n,)
    grids : ndarray of float32, shape (n, 8, 8, 3)
    """
    if not Path(kept).exists():
        from PIL import Image

        grids = []
        for path, _ in rows:
            with Image.open(path) as image:
                x, y, width, height = center_box(image.height, image.width)
                part = image.convert("RGB").crop((x, y, x + width, y + height))
                pixels = np.asarray(part.resize((SIDE, SIDE), Image.Resampling.BILINEAR), np.float32)
            grids.append(pixels.reshape(_GRID, SIDE // _GRID, _GRID, SIDE // _GRID, 3).mean((1, 3)))
        np.savez(kept, labels=[label for _, label in rows], grids=np.array(grids, np.float32))
    with np.load(kept) as file:
        return file["labels"].astype(np.int64), file["grids"]
