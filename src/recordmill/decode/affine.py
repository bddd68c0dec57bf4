"""Random affine maps about the middle of images, for a whole batch at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from recordmill.decode.draws import Draws, Stage
from recordmill.decode.specs.geometry import RandomAffine

Matrices = NDArray[np.float64]


def draw_matrices(affine: RandomAffine, sizes: NDArray[np.int64], draws: Draws, positions: ArrayLike) -> Matrices:
    """Draw the maps that `RandomAffine` asks for.

    Parameters
    ----------
    affine : RandomAffine
    sizes : ndarray of int64, shape (n, 2)
        Width and height of each image.
    draws : Draws
        Numbers 0 to 4 of the stage are angle, shifts along x and y, enlargement and shear.
    positions : array_like of int, shape (n,)

    Returns
    -------
    ndarray of float64, shape (n, 2, 3)
        From places in the output to places in the input.
    """
    unit = draws.uniform(positions, Stage.AFFINE, 5).T
    degrees: Any = affine.degrees
    shear: Any = affine.shear
    angle, enlargement, slant = (
        low + (high - low) * part
        for (low, high), part in zip((degrees, affine.scale, shear), unit[[0, 3, 4]], strict=True)
    )
    most = np.rint(np.asarray(affine.translate) * sizes)
    shifts = np.rint((2 * unit[1:3].T - 1) * most)
    return inverse_matrices(sizes, np.deg2rad(angle), shifts, enlargement, np.deg2rad(slant))


def inverse_matrices(
    sizes: NDArray[np.int64], angle: Any, shifts: NDArray[np.float64], scale: Any, slant: Any
) -> Matrices:
    """Inverse of: shear along x and enlarge, turn clockwise, shift; all about the middle.

    Parameters
    ----------
    sizes : ndarray of int64, shape (n, 2)
    angle, slant : ndarray of float64, shape (n,)
        Radians.
    shifts : ndarray of float64, shape (n, 2)
        Pixels along x and y.
    scale : ndarray of float64, shape (n,)

    Returns
    -------
    ndarray of float64, shape (n, 2, 3)
    """
    cos, sin, tan = np.cos(angle), np.sin(angle), np.tan(slant)
    forward = np.stack([np.stack([cos, -cos * tan - sin], -1), np.stack([sin, -sin * tan + cos], -1)], -2)
    inverse = np.linalg.inv(forward * np.asarray(scale)[:, None, None])
    middle = (sizes / 2)[:, :, None]
    offset = middle - inverse @ (middle + shifts[:, :, None])
    return np.concatenate([inverse, offset], axis=2)
