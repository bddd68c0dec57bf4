"""The plan of a batch's geometry: one row of numbers for each image."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False, slots=True)
class Moves:
    """What happens to each of n images, in this order.

    Parameters
    ----------
    window : ndarray of int64, shape (n, 4)
        x, y, width, height of the part that is used, in pixels of the decoded, upright image.
    resized : ndarray of int64, shape (n, 2)
        Width and height to which that part is scaled.
    place : ndarray of int64, shape (n, 4)
        x, y, width, height of the output in the scaled part; it may reach beyond.
    flip : ndarray of bool, shape (n, 2)
        Left to right, top to bottom.
    matrix : ndarray of float64, shape (n, 2, 3), optional
        From places in the output to places before the affine map, pixel 0 reaching from 0 to 1.
    """

    window: Ints
    resized: Ints
    place: Ints
    flip: NDArray[np.bool_]
    matrix: NDArray[np.float64] | None = None

    def __len__(self) -> int:
        """Return the number of images."""
        return len(self.window)

    def __getitem__(self, rows: NDArray[np.bool_] | NDArray[np.int64]) -> Moves:
        """Return the moves of some images."""
        matrix = None if self.matrix is None else self.matrix[rows]
        return Moves(self.window[rows], self.resized[rows], self.place[rows], self.flip[rows], matrix)

    @property
    def sizes(self) -> Ints:
        """Width and height of each output, shape (n, 2)."""
        return self.place[:, 2:]

    def point_maps(self) -> NDArray[np.float64]:
        """Maps of points from the decoded, upright images to the output."""
        scale = self.resized / np.maximum(self.window[:, 2:], 1)
        maps = np.zeros((len(self), 3, 3))
        maps[:, [0, 1], [0, 1]] = scale
        maps[:, :2, 2] = -self.window[:, :2] * scale - self.place[:, :2]
        maps[:, 2, 2] = 1
        mirrors = np.zeros_like(maps)
        mirrors[:, [0, 1], [0, 1]] = np.where(self.flip, -1.0, 1.0)
        mirrors[:, :2, 2] = np.where(self.flip, self.sizes, 0)
        mirrors[:, 2, 2] = 1
        maps = mirrors @ maps
        if self.matrix is None:
            return maps
        inverse = np.zeros_like(maps)
        inverse[:, :2], inverse[:, 2, 2] = self.matrix, 1
        turned: NDArray[np.float64] = np.linalg.inv(inverse) @ maps
        return turned
