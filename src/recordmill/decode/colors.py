"""The plan of a batch's colors: for each piece, one row of numbers for each image."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from recordmill.decode.draws import Draws, Stage
from recordmill.decode.specs.color import Color, ColorJitter, PCANoise, RandomErasing, RandomGrayscale
from recordmill.decode.windows import ATTEMPTS, draw_shapes

Numbers = NDArray[np.float64]
_FACTORS = ("brightness", "contrast", "saturation", "hue")

# Standard deviations and axes of ImageNet's colors on a scale of 0 to 1: red, green, blue by axis.
_PCA_DEVIATIONS = np.array([0.2175, 0.0188, 0.0045])
_PCA_AXES = np.array([[-0.5675, 0.7192, 0.4009], [-0.5808, -0.0045, -0.8140], [-0.5836, -0.6948, 0.4203]])


@dataclass(frozen=True, eq=False, slots=True)
class ColorStep:
    """One thing that is done to the colors of n images.

    Parameters
    ----------
    kind : {"jitter", "gray", "shift", "paint"}
    numbers : ndarray of float64, shape (n, k)
        jitter: brightness, contrast, saturation, hue (NaN leaves it out), then the order of these four; gray: 1 for
        yes; shift: levels added to red, green, blue; paint: x, y, width, height (0 for none).
    fill : tuple of int
        Levels of the paint.
    """

    kind: Literal["jitter", "gray", "shift", "paint"]
    numbers: Numbers
    fill: tuple[int, ...] = ()


def plan_colors(
    pieces: Sequence[Color], sizes: NDArray[np.int64], draws: Draws | None, positions: NDArray[np.int64]
) -> list[ColorStep]:
    """Draw what the pieces do to each image."""
    if pieces and draws is None:
        raise ValueError("color= draws random numbers: give rng=seed, or rng=Draws(seed, epoch)")
    return [
        _PLANS[type(piece)](piece, sizes, draws, positions, Stage.COLOR + place) for place, piece in enumerate(pieces)
    ]


def _jitter(piece: Any, _: Any, draws: Draws, positions: Any, stage: int) -> ColorStep:
    unit = draws.uniform(positions, stage, 5)
    ranges = np.array([getattr(piece, name) for name in _FACTORS])
    factors = ranges[:, 0] + (ranges[:, 1] - ranges[:, 0]) * unit[:, 1:]
    untouched = (ranges == [[1, 1], [1, 1], [1, 1], [0, 0]]).all(axis=1)
    factors[:, untouched] = np.nan
    factors[unit[:, 0] >= piece.probability] = np.nan
    order = draws.permutation(positions, stage, len(_FACTORS), first=5)
    return ColorStep("jitter", np.concatenate([factors, order], axis=1))


def _gray(piece: Any, _: Any, draws: Draws, positions: Any, stage: int) -> ColorStep:
    return ColorStep("gray", draws.booleans(positions, stage, piece.probability).astype(np.float64)[:, None])


def _noise(piece: Any, _: Any, draws: Draws, positions: Any, stage: int) -> ColorStep:
    amounts = draws.normal(positions, stage, 3) * piece.std
    return ColorStep("shift", (amounts * _PCA_DEVIATIONS) @ _PCA_AXES.T * 255)


def _erasing(piece: Any, sizes: NDArray[np.int64], draws: Draws, positions: Any, stage: int) -> ColorStep:
    inverted = (1 / piece.ratio[1], 1 / piece.ratio[0])
    shapes, found = draw_shapes(sizes, piece.scale, inverted, draws, positions, stage)
    room = np.maximum(sizes - shapes, 0)
    corner = [draws.integers(positions, stage, room[:, axis] + 1, first=2 * ATTEMPTS + axis) for axis in (0, 1)]
    wanted = draws.booleans(positions, stage, piece.probability, first=2 * ATTEMPTS + 2) & found
    windows = np.concatenate([np.stack(corner, axis=1), shapes], axis=1) * wanted[:, None]
    return ColorStep("paint", windows.astype(np.float64), piece.fill)


_PLANS: dict[type, Callable[[Any, NDArray[np.int64], Any, NDArray[np.int64], int], ColorStep]] = {
    ColorJitter: _jitter,
    RandomGrayscale: _gray,
    PCANoise: _noise,
    RandomErasing: _erasing,
}
