"""Augment images and their boxes, with the same random numbers as MXNet.

Boxes are rows (class, left, top, right, bottom, ...) of float32, relative to the size of the image.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import recordmill as rm
from recordmill.compat.mxnet.interpolation import Size, resize
from recordmill.compat.mxnet.io.augment import (
    Pixels,
    Window,
    decode,
    decode_in_threads,
    draw_interpolation,
    shift_hls,
    shorter_side_size,
)
from recordmill.compat.mxnet.io.random import Floats, LibstdcxxGenerator, scale_to_range

Rows = NDArray[np.float32]
Flags = NDArray[np.bool_]

_ZERO, _ONE = np.float32(0), np.float32(1)
_CLASS, _LEFT, _TOP, _RIGHT, _BOTTOM = range(5)
_BOX_WIDTH = 5
# MXNet draws a padding scale, but does not pad if the scale is below this value.
_MIN_PAD_SCALE = np.float32(1.05)
_COLORS = ("hue", "saturation", "illumination", "contrast")
# OpenCV converts this many columns of pixels at once, and rounds the colors of the remaining columns differently.
_SIMD_COLUMNS = 4


@dataclass(frozen=True, slots=True)
class RelativeWindow:
    """A crop window, in fractions of the image size. If its fields are arrays, it represents one window per element."""

    left: Any
    top: Any
    width: Any
    height: Any

    def select_window(self, number: int) -> RelativeWindow:
        """Return the window at index `number`. `left`, `top`, `width` and `height` must be arrays."""
        return RelativeWindow(self.left[number], self.top[number], self.width[number], self.height[number])


@dataclass(frozen=True, slots=True)
class ResizeStep:
    """Target size and interpolation method (0 to 4) of a resize step."""

    size: Size
    method: int


@dataclass(frozen=True, eq=False, slots=True)
class Augmentation:
    """Random augmentation steps of one image, in the order in which they run, and the resulting boxes."""

    first_resize: ResizeStep | None
    shifts: tuple[int, int, int]
    contrast: np.float32
    is_mirrored: bool
    window: Window
    last_resize: ResizeStep | None
    rows: Rows

    @property
    def size(self) -> Size:
        """Height and width of the augmented image."""
        return self.last_resize.size if self.last_resize else (self.window[3], self.window[2])


def split_detection_label(label: Rows) -> tuple[Rows, Rows] | None:
    """Split a label into header values and non-empty boxes; return None if the label has another structure."""
    header, width = (int(one) if np.isfinite(one) else 0 for one in label[:2].tolist()) if len(label) > 1 else (0, 0)
    if not 2 <= header <= len(label) or width < _BOX_WIDTH or (len(label) - header) % width:
        return None
    rows = label[header:].reshape(-1, width)
    return label[:header], rows[(rows[:, _RIGHT] > rows[:, _LEFT]) & (rows[:, _BOTTOM] > rows[:, _TOP])]


def decode_and_augment_batch(
    images: Sequence[Any], augmentations: Sequence[Augmentation], shape: Sequence[int], fill: int, threads: int
) -> NDArray[np.uint8]:
    """Decode and augment a batch of images. If an image is smaller than `shape`, add zeros on the right and below."""
    batch = np.zeros((len(images), *shape), np.uint8)

    def decode_one(row: int) -> None:
        augmentation = augmentations[row]
        pixels = _resize(decode(images[row], shape[0]), augmentation.first_resize)
        pixels = _resize(_crop_and_pad(pixels, augmentation, fill), augmentation.last_resize)
        batch[row, :, : pixels.shape[0], : pixels.shape[1]] = pixels.transpose(2, 0, 1)

    decode_in_threads(decode_one, range(len(images)), threads)
    return batch


def _resize(pixels: Pixels, step: ResizeStep | None) -> Pixels:
    return pixels if step is None else resize(pixels, step.size, step.method)


def _crop_and_pad(pixels: Pixels, augmentation: Augmentation, fill: int) -> Pixels:
    """Crop an image to the window, then recolor and mirror it. Window pixels outside the image get the value `fill`."""
    x, y, width, height = augmentation.window
    is_mirrored = augmentation.is_mirrored
    x = pixels.shape[1] - x - width if is_mirrored else x
    top, bottom = max(y, 0), min(y + height, pixels.shape[0])
    left, right = max(x, 0), min(x + width, pixels.shape[1])
    if top >= bottom or left >= right:
        return np.full((height, width, pixels.shape[2]), fill, np.uint8)
    behind = right - pixels.shape[1] // _SIMD_COLUMNS * _SIMD_COLUMNS
    inside = _recolor(pixels[top:bottom, left:right], augmentation, max(min(behind, right - left), 0))
    inside = rm.flip(inside) if is_mirrored else inside
    if inside.shape[:2] == (height, width):
        return inside
    padded = np.full((height, width, pixels.shape[2]), fill, np.uint8)
    start = x + width - right if is_mirrored else left - x
    padded[top - y : bottom - y, start : start + right - left] = inside
    return padded


def _recolor(pixels: Pixels, augmentation: Augmentation, behind: int) -> Pixels:
    if any(augmentation.shifts):
        pixels = shift_hls(pixels, augmentation.shifts, behind)
    if augmentation.contrast:
        levels = np.rint(np.arange(256, dtype=np.float32) * (augmentation.contrast + _ONE))
        pixels = np.clip(levels, 0, 255).astype(np.uint8).take(pixels)
    return np.ascontiguousarray(pixels)


class AugmentationSampler:
    """Draws random augmentations for ImageDetRecordIter. Random numbers are drawn in the same order as in MXNet."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values
        count = values["num_crop_sampler"] if values["rand_crop_prob"] > 0 else 0
        self._samplers = [_CropSampler(values, number) for number in range(count)]

    def draw_augmentation(self, size: Size, rows: Rows, generator: LibstdcxxGenerator) -> Augmentation:
        """Draw the augmentation of one image."""
        first = self._draw_first_resize(size, generator)
        size = first.size if first else size
        shifts, contrast = self._draw_colors(generator)
        probability = self._values["rand_mirror_prob"]
        is_mirrored = probability > 0 and bool(generator.uniform() < np.float32(probability))
        if is_mirrored:
            rows = rows.copy()
            rows[:, _LEFT], rows[:, _RIGHT] = _ONE - rows[:, _RIGHT], _ONE - rows[:, _LEFT]
        left, top, size, rows = self._draw_padding(size, rows, generator)
        (x, y, width, height), rows = self._draw_crop(size, rows, generator)
        last = self._draw_last_resize((height, width), generator)
        return Augmentation(first, shifts, contrast, is_mirrored, (x - left, y - top, width, height), last, rows)

    def _draw_first_resize(self, size: Size, generator: LibstdcxxGenerator) -> ResizeStep | None:
        shorter = self._values["resize"]
        return None if shorter == -1 else self._draw_resize(size, shorter_side_size(size, shorter), generator)

    def _draw_last_resize(self, size: Size, generator: LibstdcxxGenerator) -> ResizeStep | None:
        mode, goal = self._values["resize_mode"], self._values["data_shape"][1:]
        if mode == "force":
            return self._draw_resize(size, goal, generator)
        if mode == "shrink" and size[0] <= goal[0] and size[1] <= goal[1]:
            return None
        lengths, goals = np.array(size, np.float32), np.array(goal, np.float32)
        height, width = ((goals / lengths).min() * lengths).astype(int).tolist()
        return self._draw_resize(size, (height, width), generator)

    def _draw_resize(self, old: Size, new: Size, generator: LibstdcxxGenerator) -> ResizeStep:
        new = max(new[0], 1), max(new[1], 1)
        return ResizeStep(new, draw_interpolation(self._values["inter_method"], old, new, generator))

    def _draw_colors(self, generator: LibstdcxxGenerator) -> tuple[tuple[int, int, int], np.float32]:
        probabilities = [np.float32(self._values[f"random_{name}_prob"]) for name in _COLORS]
        if not any(probability > 0 for probability in probabilities):
            return (0, 0, 0), _ZERO
        amounts = [generator.uniform(-1, 1) * np.float32(self._values[f"max_random_{name}"]) for name in _COLORS]
        hue, saturation, light, contrast = (
            amount if generator.uniform() < probability else _ZERO
            for amount, probability in zip(amounts, probabilities, strict=True)
        )
        return (int(hue), int(light), int(saturation)), contrast if abs(contrast) > 1e-3 else _ZERO

    def _draw_padding(self, size: Size, rows: Rows, generator: LibstdcxxGenerator) -> tuple[int, int, Size, Rows]:
        """Return the padding on the left and on top, the padded size, and the boxes relative to the padded image."""
        probability, largest = self._values["rand_pad_prob"], self._values["max_pad_scale"]
        if probability > 0 and largest > 1 and generator.uniform() < np.float32(probability):
            scale = generator.uniform(1, largest)
            if scale >= _MIN_PAD_SCALE:
                x, y = generator.uniform(0, scale - _ONE), generator.uniform(0, scale - _ONE)
                height, width = np.float32(size[0]), np.float32(size[1])
                left, top = int(x * width), int(y * height)
                right, below = int((scale - x - _ONE) * width), int((scale - y - _ONE) * height)
                rows = _to_window_coordinates(rows, RelativeWindow(-x, -y, scale, scale))
                return left, top, (size[0] + top + below, size[1] + left + right), rows
        return 0, 0, size, rows

    def _draw_crop(self, size: Size, rows: Rows, generator: LibstdcxxGenerator) -> tuple[Window, Rows]:
        height, width = size
        if self._samplers and generator.uniform() < np.float32(self._values["rand_crop_prob"]):
            ratio = np.float32(width) / np.float32(height)
            for number in generator.permutation(len(self._samplers)):
                crop = self._samplers[number].draw_window(ratio, rows, generator)
                if crop is not None:
                    region, rows = crop
                    x, w = (int(one * np.float32(width)) for one in (region.left, region.width))
                    y, h = (int(one * np.float32(height)) for one in (region.top, region.height))
                    return (x, y, max(w, 1), max(h, 1)), rows
        return (0, 0, width, height), rows


class _CropSampler:
    """Draws crop windows that satisfy limits on scale, aspect ratio and overlap with the boxes."""

    def __init__(self, values: Mapping[str, Any], number: int) -> None:
        def select_sampler_value(name: str) -> Any:
            settings = values[name]
            return settings[number] if len(settings) > 1 else settings[0]

        def select_sampler_limits(name: str) -> tuple[float, float]:
            return select_sampler_value(f"min_crop_{name}"), select_sampler_value(f"max_crop_{name}")

        self._scales, self._ratios = select_sampler_limits("scales"), select_sampler_limits("aspect_ratios")
        self._trials = int(select_sampler_value("max_crop_trials"))
        self._limits = [select_sampler_limits(name) for name in ("overlaps", "sample_coverages", "object_coverages")]
        self._keeps_centers = values["crop_emit_mode"] == "center"
        self._min_overlap = np.float32(values["emit_overlap_thresh"])

    def draw_window(
        self, ratio: np.float32, rows: Rows, generator: LibstdcxxGenerator
    ) -> tuple[RelativeWindow, Rows] | None:
        """Return a crop window and the boxes it keeps; None if all trials fail. `ratio` is the image's aspect ratio."""
        regions = self._propose_windows(ratio, generator.peek_uniform(4 * self._trials).reshape(-1, 4).T)
        accepted = self._find_valid_windows(rows, regions)
        number = int(accepted.argmax()) if accepted.any() else self._trials
        generator.skip_words(4 * min(number + 1, self._trials))
        if number == self._trials:
            return None
        region = regions.select_window(number)
        return region, _to_window_coordinates(rows[self._find_kept_boxes(rows.T, region)], region) if len(
            rows
        ) else rows

    def _propose_windows(self, ratio: np.float32, units: Floats) -> RelativeWindow:
        """Return one candidate window per trial, from uniform random numbers of shape (4, trials)."""
        scale = scale_to_range(units[0], *np.array(self._scales, np.float32)) + np.float32(1e-12)
        low = np.maximum(np.float32(self._ratios[0]) / ratio, scale * scale)
        high = np.minimum(np.float32(self._ratios[1]) / ratio, _ONE / (scale * scale))
        shape = np.sqrt(np.maximum(scale_to_range(units[1], low, high), _ZERO))
        with np.errstate(divide="ignore", over="ignore"):
            width, height = np.minimum(_ONE, scale * shape), np.minimum(_ONE, scale / shape)
        left, top = scale_to_range(units[2], _ZERO, _ONE - width), scale_to_range(units[3], _ZERO, _ONE - height)
        return RelativeWindow(left, top, width, height)

    def _find_valid_windows(self, rows: Rows, regions: RelativeWindow) -> Flags:
        """Return whether each window is valid.

        In a valid window, at least one box meets the overlap limits, and at least one box stays in the label. If the
        image has no boxes, every window is valid.
        """
        if not len(rows):
            return np.ones(regions.left.shape, bool)
        columns = rows.T[:, :, None]
        return np.asarray(
            self._meets_overlap_limits(columns, regions).any(axis=0)
            & self._find_kept_boxes(columns, regions).any(axis=0)
        )

    def _meets_overlap_limits(self, columns: Rows, region: RelativeWindow) -> Flags:
        common, window, areas = (
            _compute_intersection_areas(columns, region),
            region.width * region.height,
            _box_areas(columns),
        )
        satisfied = np.ones(common.shape, bool)
        for (low, high), total in zip(self._limits, (window + areas - common, window, areas), strict=True):
            if low > 0 or high < 1:
                shares = common / total
                satisfied &= (shares >= np.float32(low)) & (shares <= np.float32(high))
        return satisfied

    def _find_kept_boxes(self, columns: Rows, region: RelativeWindow) -> Flags:
        """Return whether each box stays in the label when the image is cropped to the window."""
        if not self._keeps_centers:
            return np.asarray(_compute_intersection_areas(columns, region) / _box_areas(columns) > self._min_overlap)
        half = np.float32(0.5)
        x, y = (columns[_LEFT] + columns[_RIGHT]) * half, (columns[_TOP] + columns[_BOTTOM]) * half
        inside = (region.left <= x) & (x < region.left + region.width)
        return np.asarray(inside & (region.top <= y) & (y < region.top + region.height))


def _to_window_coordinates(rows: Rows, region: RelativeWindow) -> Rows:
    """Convert boxes to coordinates relative to a window, and clip the boxes to the window."""
    moved = rows.copy()
    for column, start, length in ((_LEFT, region.left, region.width), (_TOP, region.top, region.height)):
        moved[:, column] = np.maximum(_ZERO, (rows[:, column] - start) / length)
        moved[:, column + 2] = np.minimum(_ONE, (rows[:, column + 2] - start) / length)
    return moved


def _box_areas(columns: Rows) -> Rows:
    areas: Rows = (columns[_RIGHT] - columns[_LEFT]) * (columns[_BOTTOM] - columns[_TOP])
    return areas


def _compute_intersection_areas(columns: Rows, region: RelativeWindow) -> Rows:
    """Return the area that each box shares with a window."""
    sides = []
    for column, start, length in ((_LEFT, region.left, region.width), (_TOP, region.top, region.height)):
        first = np.maximum(columns[column], start)
        width = columns[column + 2] - columns[column]
        sides.append(np.minimum(columns[column] + width, start + length) - first)
    return np.where((sides[0] > 0) & (sides[1] > 0), sides[0] * sides[1], _ZERO)
