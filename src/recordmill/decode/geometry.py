"""From sizes, specs and draws to the geometry of a whole batch, without a loop over images."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from recordmill.decode.affine import draw_matrices
from recordmill.decode.draws import Draws, Stage
from recordmill.decode.given import Given
from recordmill.decode.moves import Moves
from recordmill.decode.presets import find_preset
from recordmill.decode.specs.geometry import (
    CenterCrop,
    Crop,
    Flip,
    GivenCrop,
    GivenFlip,
    RandomAffine,
    RandomCrop,
    RandomResizedCrop,
    Resize,
)
from recordmill.decode.specs.image import Image
from recordmill.decode.windows import random_windows

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Geometry:
    """The parts of a spec that move pixels.

    Parameters
    ----------
    resize : Resize, optional
    crop : CenterCrop, RandomCrop, RandomResizedCrop or GivenCrop, optional
    flip : Flip or GivenFlip, optional
    affine : RandomAffine, optional
    center : {"even", "floor"}
        As in `Preset`.
    """

    resize: Resize | None = None
    crop: Crop | None = None
    flip: Flip | GivenFlip | None = None
    affine: RandomAffine | None = None
    center: Literal["even", "floor"] = "even"

    @classmethod
    def of(cls, spec: Image) -> Geometry:
        """Return the geometry of an image spec."""
        flip, resize = cast("Flip | GivenFlip | None", spec.flip), cast("Resize | None", spec.resize)
        return cls(resize, spec.crop, flip, spec.affine, find_preset(spec.like).center)

    @property
    def is_random(self) -> bool:
        """Whether draws are needed."""
        chances = (self.flip.horizontal, self.flip.vertical) if isinstance(self.flip, Flip) else ()
        random_crop = isinstance(self.crop, RandomCrop | RandomResizedCrop)
        return random_crop or self.affine is not None or any(0 < chance < 1 for chance in chances)

    @property
    def adds_pixels(self) -> bool:
        """Whether some output may not be covered by the image."""
        crop = self.crop
        pads = crop.fill is not None if isinstance(crop, GivenCrop) else getattr(crop, "small", None) == "pad"
        return self.affine is not None or pads or (isinstance(crop, RandomCrop) and any(_padding(crop)))

    @property
    def size(self) -> tuple[int, int] | None:
        """Height and width of every output; None where they depend on the image."""
        last = self.crop or self.resize
        return None if last is None else cast("tuple[int, int] | None", last.size)


def _padding(crop: RandomCrop) -> tuple[int, int, int, int]:
    return cast("tuple[int, int, int, int]", crop.padding)


def plan_moves(
    sizes: Ints, geometry: Geometry, draws: Draws | None, positions: Ints, given: Given | None = None
) -> tuple[Moves, NDArray[np.bool_]]:
    """Plan the geometry of n images."""
    whole = np.concatenate([np.zeros_like(sizes), sizes], axis=1)
    given = given or Given()
    if isinstance(geometry.crop, GivenCrop):
        window, resized, place = _as_given(given.windows, geometry.crop, whole, geometry.resize)
        too_small = np.zeros(len(sizes), np.bool_)
    else:
        window, resized, place, too_small = _cut(whole, geometry, draws, positions)
    flip = _flips(geometry.flip, draws, positions, given)
    matrix = None
    if geometry.affine is not None:
        matrix = draw_matrices(geometry.affine, place[:, 2:], _needed(draws), positions)
    return Moves(window, resized, place, flip, matrix), too_small


def _as_given(windows: Ints | None, crop: GivenCrop, whole: Ints, resize: Resize | None) -> tuple[Ints, Ints, Ints]:
    if windows is None:
        raise ValueError(f"windows of the feature {crop.feature!r} are missing")
    if resize is not None or crop.fill is not None:
        return whole, resized_sizes(whole[:, 2:], resize), windows
    resized = windows[:, 2:].copy() if crop.size is None else np.broadcast_to(_wanted(crop), (len(windows), 2)).copy()
    return windows, resized, np.concatenate([np.zeros_like(resized), resized], axis=1)


def _cut(
    whole: Ints, geometry: Geometry, draws: Draws | None, positions: Ints
) -> tuple[Ints, Ints, Ints, NDArray[np.bool_]]:
    crop = cast("CenterCrop | RandomCrop | RandomResizedCrop | None", geometry.crop)
    fits = np.zeros(len(whole), np.bool_)
    if isinstance(crop, RandomResizedCrop):
        window = random_windows(whole[:, 2:], crop, _needed(draws), positions)
        resized = np.broadcast_to(_wanted(crop), (len(whole), 2)).copy()
        return window, resized, np.concatenate([np.zeros_like(resized), resized], axis=1), fits
    resized = resized_sizes(whole[:, 2:], geometry.resize)
    if crop is None:
        return whole, resized, np.concatenate([np.zeros_like(resized), resized], axis=1), fits
    wanted = _wanted(crop)
    if crop.small == "enlarge":
        resized = _enlarged(resized, wanted, crop)
    if isinstance(crop, RandomCrop):
        corner, room = _random_corner(resized, wanted, crop, draws, positions)
    else:
        room = resized - wanted
        corner = np.where(room >= 0, _half(room, geometry.center), -(-room // 2))
    too_small = np.asarray((room < 0).any(axis=1)) if crop.small == "error" else fits
    size = np.broadcast_to(wanted, resized.shape)
    return whole, resized, np.concatenate([corner, size], axis=1), too_small


def _wanted(crop: Any) -> Ints:
    wanted: Ints = np.asarray(crop.size[::-1], np.int64)
    return wanted


def resized_sizes(sizes: Ints, resize: Resize | None) -> Ints:
    """Sizes of images once they are resized."""
    if resize is None:
        return sizes
    if resize.size is not None:
        return np.broadcast_to(_wanted(resize), sizes.shape).copy()
    shorter = np.maximum(sizes.min(axis=1, keepdims=True), 1)
    scaled: Ints = np.maximum(sizes * np.int64(resize.shorter or 1) // shorter, 1)
    return scaled


def _enlarged(sizes: Ints, wanted: Ints, crop: CenterCrop | RandomCrop) -> Ints:
    """Scale until the height is reached, then until the width is, both sides together and cut to whole pixels."""
    left, top, right, bottom = _padding(crop) if isinstance(crop, RandomCrop) else (0, 0, 0, 0)
    goal = np.maximum(wanted - (left + right, top + bottom), 1)
    for side, other in ((1, 0), (0, 1)):
        short = sizes[:, side] < goal[side]
        ratio = np.float32(goal[side]) / np.maximum(sizes[:, side], 1).astype(np.float32)
        grown = np.maximum((ratio * sizes[:, other].astype(np.float32)).astype(np.int64), 1)
        sizes = sizes.copy()
        sizes[:, other] = np.where(short, grown, sizes[:, other])
        sizes[:, side] = np.where(short, goal[side], sizes[:, side])
    return sizes


def _half(room: Ints, center: str) -> Ints:
    return room // 2 if center == "floor" else np.rint(room / 2).astype(np.int64)


def _random_corner(
    sizes: Ints, wanted: Ints, crop: RandomCrop, draws: Draws | None, positions: Ints
) -> tuple[Ints, Ints]:
    """Upper left corner of each window, and by how much the padded image is larger than the window."""
    left, top, right, bottom = _padding(crop)
    room = sizes + np.array([left + right, top + bottom]) - wanted
    missing = np.maximum(-room, 0) if crop.small == "pad" else np.zeros_like(room)
    choices = np.maximum(room + 2 * missing, 0) + 1
    source = _needed(draws)
    drawn = [source.integers(positions, Stage.CROP, choices[:, axis], first=axis) for axis in (0, 1)]
    return np.stack(drawn, axis=1) - (left, top) - missing, room


def _flips(flip: Flip | GivenFlip | None, draws: Draws | None, positions: Ints, given: Given) -> NDArray[np.bool_]:
    flips = np.zeros((len(positions), 2), np.bool_)
    if isinstance(flip, GivenFlip):
        flips[:, 0] = given.mirrors
        return flips
    for axis, chance in enumerate(() if flip is None else (flip.horizontal, flip.vertical)):
        if 0 < chance < 1:
            flips[:, axis] = _needed(draws).booleans(positions, Stage.FLIP, chance, first=axis)
        else:
            flips[:, axis] = chance == 1
    return flips


def _needed(draws: Draws | None) -> Draws:
    if draws is None:
        raise ValueError("these specs draw random numbers: give rng=seed, or rng=Draws(seed, epoch)")
    return draws
