"""Random affine maps about the middle of images, for a whole batch at once."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from recordmill.decode.draws import Draws, Stage
from recordmill.decode.specs.geometry import RandomAffine

Matrices = NDArray[np.float64]


def draw_matrices(affine: RandomAffine, sizes: NDArray[np.int64], draws: Draws, positions: ArrayLike) -> Matrices:
    """Draw the maps that `RandomAffine` asks for."""
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
    """Inverse of: shear along x and enlarge, turn clockwise, shift; all about the middle."""
    cos, sin, tan = _each(math.cos, angle), _each(math.sin, angle), _each(math.tan, slant)
    a, b, c, d = cos, -cos * tan - sin, sin, -sin * tan + cos
    inverse = np.stack([d, -b, -c, a], axis=-1).reshape(-1, 2, 2) / np.asarray(scale)[:, None, None]
    middle = sizes * 0.5
    back = -middle - shifts
    offset = inverse[:, :, 0] * back[:, :1] + inverse[:, :, 1] * back[:, 1:] + middle
    return np.concatenate([inverse, offset[:, :, None]], axis=2)


def _each(function: Callable[[float], float], values: Any) -> NDArray[np.float64]:
    """Results of Python's own function: NumPy's may differ in the last bit, which can turn a level."""
    return np.fromiter(map(function, np.asarray(values, np.float64).tolist()), np.float64, len(values))
