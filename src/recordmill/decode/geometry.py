"""Plan how each image of a batch is resized, cropped, flipped and warped, from its size, a spec and random numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from recordmill.decode.presets import find_preset
from recordmill.decode.random import Draws, Stage, words_to_integers, words_to_uniform
from recordmill.decode.specs.geometry import (
    CenterCrop,
    Flip,
    GivenCrop,
    GivenFlip,
    RandomAffine,
    RandomCrop,
    RandomResizedCrop,
    Resize,
)
from recordmill.decode.specs.image import Image
from recordmill.errors import FeatureError
from recordmill.types import Ragged

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Matrices = NDArray[np.float64]

ATTEMPTS = 10  # Number of random rectangles that RandomResizedCrop and RandomErasing try.
# Maximum coordinate and side, in pixels, of a GivenCrop window that may reach beyond its image.
_MAX_REACH = 1 << 16


@dataclass(frozen=True, eq=False, slots=True)
class GeometryPlan:
    """Geometric transforms of n images. The transforms are applied in the order of the parameters.

    Parameters
    ----------
    windows : ndarray of int64, shape (n, 4)
        x, y, width and height of the part that is used, in pixels of the decoded, upright image.
    resized : ndarray of int64, shape (n, 2)
        Width and height to which that part is resized.
    crops : ndarray of int64, shape (n, 4)
        x, y, width and height of the output in the resized part. A crop may reach beyond that part.
    flips : ndarray of bool, shape (n, 2)
        Horizontal and vertical.
    matrices : ndarray of float64, shape (n, 2, 3), optional
        Affine maps from output coordinates to coordinates in the cropped image. The first pixel covers 0 to 1.
    """

    windows: Ints
    resized: Ints
    crops: Ints
    flips: Bools
    matrices: Matrices | None = None

    def __len__(self) -> int:
        """Return the number of images."""
        return len(self.windows)

    def __getitem__(self, rows: Bools | Ints) -> GeometryPlan:
        """Return the part of this plan for a subset of the images."""
        matrices = None if self.matrices is None else self.matrices[rows]
        return GeometryPlan(self.windows[rows], self.resized[rows], self.crops[rows], self.flips[rows], matrices)

    @classmethod
    def identity(cls, sizes: Any) -> GeometryPlan:
        """Return a plan that changes nothing; `sizes` are the widths and heights of the images."""
        whole = _build_full_windows(np.asarray(sizes, np.int64))
        return cls(whole, whole[:, 2:], whole, np.zeros((len(whole), 2), np.bool_))

    def output_sizes(self) -> Ints:
        """Return width and height of each output, shape (n, 2)."""
        return self.crops[:, 2:]

    def point_maps(self) -> Matrices:
        """Return matrices that map points of the decoded, upright images to the outputs, shape (n, 3, 3)."""
        scales = self.resized / np.maximum(self.windows[:, 2:], 1)
        maps = np.zeros((len(self), 3, 3))
        maps[:, [0, 1], [0, 1]] = scales
        maps[:, :2, 2] = -self.windows[:, :2] * scales - self.crops[:, :2]
        maps[:, 2, 2] = 1
        mirrors = np.zeros_like(maps)
        mirrors[:, [0, 1], [0, 1]] = np.where(self.flips, -1.0, 1.0)
        mirrors[:, :2, 2] = np.where(self.flips, self.crops[:, 2:], 0)
        mirrors[:, 2, 2] = 1
        maps = mirrors @ maps
        if self.matrices is None:
            return maps
        inverse = np.zeros_like(maps)
        inverse[:, :2], inverse[:, 2, 2] = self.matrices, 1
        result: Matrices = np.linalg.inv(inverse) @ maps
        return result


@dataclass(frozen=True, eq=False, slots=True)
class GivenGeometry:
    """Crop windows and flips of n images, read from the features that GivenCrop and GivenFlip name.

    Parameters
    ----------
    windows : ndarray of int64, shape (n, 4), optional
        x, y, width and height.
    flips : ndarray of bool, shape (n,), optional
    """

    windows: Ints | None = None
    flips: Bools | None = None

    def __getitem__(self, rows: Any) -> GivenGeometry:
        """Return the windows and flips of the selected images."""
        windows = None if self.windows is None else self.windows[rows]
        return GivenGeometry(windows, None if self.flips is None else self.flips[rows])

    def find_invalid_windows(self, sizes: Ints, *, may_reach_beyond: bool = False) -> Bools:
        """Return a boolean mask of the windows that are empty or reach beyond their image.

        With `may_reach_beyond`, a window may reach beyond its image, up to a fixed limit.
        """
        if self.windows is None:
            return np.zeros(len(sizes), np.bool_)
        corners, sides = self.windows[:, :2], self.windows[:, 2:]
        if may_reach_beyond:
            outside = (sides < 1) | (sides > _MAX_REACH) | (np.abs(corners) > _MAX_REACH)
        else:
            # Compare without adding x and width, because a sum of untrusted numbers could overflow.
            outside = (corners < 0) | (sides < 1) | (sides > sizes) | (corners > sizes - sides)
        return np.asarray(outside.any(axis=1))


def list_given_features(spec: Image) -> list[str]:
    """Return the names of the features from which a spec reads crop windows and flips."""
    return [part.feature for part in (spec.crop, spec.flip) if isinstance(part, GivenCrop | GivenFlip)]


def read_given_geometry(read_column: Callable[[str], Any], spec: Image) -> GivenGeometry:
    """Read crop windows and flips from features of the samples, if `spec` contains GivenCrop or GivenFlip."""
    windows = flips = None
    if isinstance(spec.crop, GivenCrop):
        windows = _read_numbers(read_column(spec.crop.feature), spec.crop.feature, 4, "iu").astype(np.int64)
    if isinstance(spec.flip, GivenFlip):
        flips = _read_numbers(read_column(spec.flip.feature), spec.flip.feature, 1, "iufb")[:, 0] != 0
    return GivenGeometry(windows, flips)


def _read_numbers(column: Any, feature: str, width: int, kinds: str) -> NDArray[Any]:
    """Convert a column to an array with `width` numbers per sample.

    Raise FeatureError if the column has a different type or number of values.
    """
    count = len(column)
    if isinstance(column, Ragged):
        is_table = isinstance(column.data, np.ndarray) and (np.diff(column.row_splits) == width).all()
        numbers = column.data if is_table else None
    else:
        try:
            numbers = np.asarray(column)
        except ValueError:
            numbers = None
    if count == 0:
        return np.zeros((0, width), np.int64)
    if numbers is None or numbers.dtype.kind not in kinds or numbers.size != count * width:
        found = "rows of other lengths" if numbers is None else f"{numbers.dtype} of shape {numbers.shape}"
        noun = "one number" if width == 1 else f"{width} integers"
        raise FeatureError(
            f"feature '{feature}' must hold {noun} per sample",
            kind="feature_mismatch",
            expected=f"shape {(count, width)}",
            found=found,
        )
    table: NDArray[Any] = numbers.reshape(count, width)
    return table


def adds_pixels(spec: Image) -> bool:
    """Return True if outputs of a spec may contain pixels outside of the image, such as padding."""
    crop = spec.crop
    pads = crop.fill is not None if isinstance(crop, GivenCrop) else getattr(crop, "small", None) == "pad"
    return spec.affine is not None or pads or (isinstance(crop, RandomCrop) and any(_get_padding(crop)))


def find_fixed_output_size(spec: Image) -> tuple[int, int] | None:
    """Return the height and width of every output of a spec; None if they depend on the image."""
    last = spec.crop or cast("Resize | None", spec.resize)
    return None if last is None else cast("tuple[int, int] | None", last.size)


def plan_geometry(
    sizes: Ints, spec: Image, draws: Draws | None, positions: Ints, given: GivenGeometry | None = None
) -> tuple[GeometryPlan, Bools]:
    """Plan the geometry of n images.

    Parameters
    ----------
    sizes : ndarray of int64, shape (n, 2)
        Widths and heights of the decoded, upright images.
    spec : Image
    draws : Draws, optional
        Required if the spec has random transforms.
    positions : ndarray of int64, shape (n,)
        Positions of the samples in the epoch.
    given : GivenGeometry, optional

    Returns
    -------
    plan : GeometryPlan
    too_small : ndarray of bool, shape (n,)
        True for images that are smaller than their crop and may neither be padded nor enlarged.
    """
    given = given or GivenGeometry()
    crop, resize = spec.crop, cast("Resize | None", spec.resize)
    windows = _build_full_windows(sizes)
    too_small = np.zeros(len(sizes), np.bool_)
    if isinstance(crop, RandomResizedCrop):
        windows = _draw_crop_windows(sizes, crop, _require_draws(draws), positions)
        resized = _repeat_output_size(crop, len(sizes))
        crops = _build_full_windows(resized)
    elif isinstance(crop, GivenCrop):
        if given.windows is None:
            raise ValueError(f"GivenCrop requires crop windows in feature {crop.feature!r}")
        if resize is not None or crop.fill is not None:
            resized, crops = compute_resized_sizes(sizes, resize), given.windows
        else:
            windows = given.windows
            resized = windows[:, 2:].copy() if crop.size is None else _repeat_output_size(crop, len(sizes))
            crops = _build_full_windows(resized)
    elif crop is None:
        resized = compute_resized_sizes(sizes, resize)
        crops = _build_full_windows(resized)
    elif isinstance(crop, CenterCrop | RandomCrop):
        resized = compute_resized_sizes(sizes, resize)
        if crop.small == "enlarge":
            resized = _enlarge_to_crop(resized, crop)
        corners, room = _place_crops(resized, spec, crop, draws, positions)
        crops = np.concatenate([corners, _repeat_output_size(crop, len(sizes))], axis=1)
        if crop.small == "error":
            too_small = np.asarray((room < 0).any(axis=1))
    else:
        raise TypeError(f"crop of type {type(crop).__name__} is not supported")
    flips = _plan_flips(spec.flip, draws, positions, given)
    matrices = None
    if spec.affine is not None:
        matrices = _draw_inverse_matrices(spec.affine, crops[:, 2:], _require_draws(draws), positions)
    return GeometryPlan(windows, resized, crops, flips, matrices), too_small


def compute_resized_sizes(sizes: Ints, resize: Resize | None) -> Ints:
    """Return the widths and heights of images after `resize`."""
    if resize is None:
        return sizes
    if resize.size is not None:
        return _repeat_output_size(resize, len(sizes))
    shorter = np.maximum(sizes.min(axis=1, keepdims=True), 1)
    scaled: Ints = np.maximum(sizes * np.int64(resize.shorter or 1) // shorter, 1)
    return scaled


def _build_full_windows(sizes: Ints) -> Ints:
    return np.concatenate([np.zeros_like(sizes), sizes], axis=1)


def _read_output_size(part: Any) -> Ints:
    pair: Ints = np.asarray(part.size[::-1], np.int64)
    return pair


def _repeat_output_size(part: Any, count: int) -> Ints:
    return np.broadcast_to(_read_output_size(part), (count, 2)).copy()


def _get_padding(crop: RandomCrop) -> tuple[int, int, int, int]:
    return cast("tuple[int, int, int, int]", crop.padding)


def _enlarge_to_crop(sizes: Ints, crop: CenterCrop | RandomCrop) -> Ints:
    """Enlarge images that are smaller than the crop, first to its height, then to its width.

    MXNet's ImageRecordIter uses the same order.
    """
    left, top, right, bottom = _get_padding(crop) if isinstance(crop, RandomCrop) else (0, 0, 0, 0)
    goal = np.maximum(_read_output_size(crop) - (left + right, top + bottom), 1)
    for side, other in ((1, 0), (0, 1)):
        is_short = sizes[:, side] < goal[side]
        ratio = np.float32(goal[side]) / np.maximum(sizes[:, side], 1).astype(np.float32)
        scaled = np.maximum((ratio * sizes[:, other].astype(np.float32)).astype(np.int64), 1)
        sizes = sizes.copy()
        sizes[:, other] = np.where(is_short, scaled, sizes[:, other])
        sizes[:, side] = np.where(is_short, goal[side], sizes[:, side])
    return sizes


def _place_crops(
    sizes: Ints, spec: Image, crop: CenterCrop | RandomCrop, draws: Draws | None, positions: Ints
) -> tuple[Ints, Ints]:
    """Return the upper left corner of each crop, and the size difference between the padded image and the crop."""
    room = sizes - _read_output_size(crop)
    if isinstance(crop, CenterCrop):
        half = room // 2 if find_preset(spec.like).center == "floor" else np.rint(room / 2).astype(np.int64)
        return np.where(room >= 0, half, -(-room // 2)), room
    left, top, right, bottom = _get_padding(crop)
    room += np.array([left + right, top + bottom])
    missing = np.maximum(-room, 0) if crop.small == "pad" else np.zeros_like(room)
    choices = np.maximum(room + 2 * missing, 0) + 1
    words = _require_draws(draws).words(positions, Stage.CROP, 2)
    return words_to_integers(words, choices) - (left, top) - missing, room


def _plan_flips(flip: Any, draws: Draws | None, positions: Ints, given: GivenGeometry) -> Bools:
    flips = np.zeros((len(positions), 2), np.bool_)
    if isinstance(flip, GivenFlip):
        flips[:, 0] = given.flips
    elif isinstance(flip, Flip):
        for axis, probability in enumerate((flip.horizontal, flip.vertical)):
            if 0 < probability < 1:
                flips[:, axis] = _require_draws(draws).booleans(positions, Stage.FLIP, probability, first=axis)
            else:
                flips[:, axis] = probability == 1
    elif flip is not None:
        raise TypeError(f"flip of type {type(flip).__name__} is not supported")
    return flips


def _require_draws(draws: Draws | None) -> Draws:
    if draws is None:
        raise ValueError("specs with random transforms require rng=seed or rng=Draws(seed, epoch)")
    return draws


def _draw_crop_windows(sizes: Ints, crop: RandomResizedCrop, draws: Draws, positions: Ints) -> Ints:
    words = draws.words(positions, Stage.CROP, 2 * ATTEMPTS + 2)
    shapes, fits = choose_fitting_rectangles(sizes, crop.scale, crop.ratio, words_to_uniform(words[:, : 2 * ATTEMPTS]))
    if not fits.all():
        shapes[~fits] = _find_largest_crop_sizes(sizes[~fits], crop.ratio)
    room = sizes - shapes
    corners = words_to_integers(words[:, 2 * ATTEMPTS :], room + 1)
    corners[~fits] = room[~fits] // 2
    return np.concatenate([corners, shapes], axis=1)


def choose_fitting_rectangles(
    sizes: Ints, scale: tuple[float, float], ratio: tuple[float, float], unit: NDArray[np.float64]
) -> tuple[Ints, Bools]:
    """Return the first random rectangle that fits into each image, and a mask of the images with such a rectangle.

    For each image, `ATTEMPTS` rectangles are tried. The area is uniform in `scale`, the logarithm of width / height is
    uniform in `ratio`. `unit` holds two numbers in [0, 1) for each attempt.
    """
    area = sizes.prod(axis=1)[:, None] * (scale[0] + (scale[1] - scale[0]) * unit[:, 0::2])
    low, high = np.log(ratio)
    aspect = np.exp(low + (high - low) * unit[:, 1::2])
    tried = np.rint(np.sqrt(np.stack([area * aspect, area / aspect], axis=2))).astype(np.int64)
    fits = ((tried > 0) & (tried <= sizes[:, None, :])).all(axis=2)
    return tried[np.arange(len(sizes)), fits.argmax(axis=1)], fits.any(axis=1)


def _find_largest_crop_sizes(sizes: Ints, ratio: tuple[float, float]) -> Ints:
    """Return, for each image, the size of the largest crop whose width / height is in the range `ratio`."""
    width, height = sizes.astype(np.float64).T
    aspect = width / np.maximum(height, 1)
    widths: Any = np.where(aspect > ratio[1], np.rint(height * ratio[1]), width)
    heights: Any = np.where(aspect < ratio[0], np.rint(width / ratio[0]), height)
    return np.clip(np.stack([widths, heights], axis=1).astype(np.int64), 1, np.maximum(sizes, 1))


def _draw_inverse_matrices(affine: RandomAffine, sizes: Ints, draws: Draws, positions: Ints) -> Matrices:
    unit = draws.uniform(positions, Stage.AFFINE, 5).T
    ranges: Any = (affine.degrees, affine.scale, affine.shear)
    angles, scales, shears = (
        low + (high - low) * part for (low, high), part in zip(ranges, unit[[0, 3, 4]], strict=True)
    )
    max_shifts = np.rint(np.asarray(affine.translate) * sizes)
    shifts = np.rint((2 * unit[1:3].T - 1) * max_shifts)
    return build_inverse_matrices(sizes, np.deg2rad(angles), shifts, scales, np.deg2rad(shears))


def build_inverse_matrices(sizes: Ints, angles: Any, shifts: NDArray[np.float64], scales: Any, shears: Any) -> Matrices:
    """Return the inverse matrices of affine maps. A map shears along x, scales, rotates clockwise, and then shifts."""
    cos, sin, tan = _apply_math(math.cos, angles), _apply_math(math.sin, angles), _apply_math(math.tan, shears)
    a, b, c, d = cos, -cos * tan - sin, sin, -sin * tan + cos
    inverse = np.stack([d, -b, -c, a], axis=-1).reshape(-1, 2, 2) / np.asarray(scales)[:, None, None]
    center = sizes * 0.5
    back = -center - shifts
    offset = inverse[:, :, 0] * back[:, :1] + inverse[:, :, 1] * back[:, 1:] + center
    return np.concatenate([inverse, offset[:, :, None]], axis=2)


def _apply_math(function: Callable[[float], float], values: Any) -> NDArray[np.float64]:
    """Apply a function of the `math` module to each value.

    NumPy functions are not used here: their results may differ in the last bit, and that can change a pixel.
    """
    return np.fromiter(map(function, np.asarray(values, np.float64).tolist()), np.float64, len(values))
