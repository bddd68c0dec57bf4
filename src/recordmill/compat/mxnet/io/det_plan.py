"""What becomes of one picture with boxes: drawn numbers to steps, in the order in which MXNet draws them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from recordmill.compat.mxnet.io.det_boxes import Box, CropRule, Rows, moved_into
from recordmill.compat.mxnet.io.methods import drawn_method
from recordmill.compat.mxnet.io.numbers import Floats, Numbers, between
from recordmill.dataclass import dataclass

Size = tuple[int, int]
_ZERO, _ONE = np.float32(0), np.float32(1)
# A frame below so many pictures of each side is left away.
_SMALLEST_FRAME = np.float32(1.05)
_COLOURS = ("hue", "saturation", "illumination", "contrast")


@dataclass(frozen=True, slots=True)
class Scaling:
    """A size and an interpolation."""

    size: Size
    method: int


@dataclass(frozen=True, eq=False, slots=True)
class Steps:
    """Steps of one picture, one after another."""

    first: Scaling | None
    shifts: tuple[int, int, int]
    contrast: np.float32
    is_mirrored: bool
    window: tuple[int, int, int, int]
    last: Scaling | None
    rows: Rows

    @property
    def size(self) -> Size:
        """Height and width of what comes out."""
        return self.last.size if self.last else (self.window[3], self.window[2])


class StepsPlan:
    """How steps follow from the parameters and from numbers that are drawn."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values
        count = values["num_crop_sampler"]
        self._samplers = [_Sampler(values, number) for number in range(count)] if values["rand_crop_prob"] > 0 else []

    def draw(self, size: Size, rows: Rows, numbers: Numbers) -> Steps:
        """Steps of one picture."""
        values = self._values
        first = self._shorter(size, numbers)
        size = first.size if first else size
        shifts, contrast = self._colours(numbers)
        is_mirrored = values["rand_mirror_prob"] > 0 and bool(
            numbers.uniform() < np.float32(values["rand_mirror_prob"])
        )
        if is_mirrored:
            rows = rows.copy()
            rows[:, 1], rows[:, 3] = _ONE - rows[:, 3], _ONE - rows[:, 1]
        left, top, size, rows = self._framed(size, rows, numbers)
        (x, y, width, height), rows = self._cropped(size, rows, numbers)
        last = self._fitted((height, width), numbers)
        return Steps(first, shifts, contrast, is_mirrored, (x - left, y - top, width, height), last, rows)

    def _shorter(self, size: Size, numbers: Numbers) -> Scaling | None:
        (height, width), shorter = size, self._values["resize"]
        if shorter == -1:
            return None
        wanted = (shorter * height // width, shorter) if height > width else (shorter, shorter * width // height)
        return self._scaling(size, wanted, numbers)

    def _scaling(self, old: Size, new: Size, numbers: Numbers) -> Scaling:
        new = max(new[0], 1), max(new[1], 1)
        return Scaling(new, drawn_method(self._values["inter_method"], old, new, numbers))

    def _colours(self, numbers: Numbers) -> tuple[tuple[int, int, int], np.float32]:
        shares = [np.float32(self._values[f"random_{name}_prob"]) for name in _COLOURS]
        if not any(share > 0 for share in shares):
            return (0, 0, 0), np.float32(0)
        drawn = [numbers.uniform(-1, 1) * np.float32(self._values[f"max_random_{name}"]) for name in _COLOURS]
        hue, saturation, light, contrast = (
            one if numbers.uniform() < share else np.float32(0) for one, share in zip(drawn, shares, strict=True)
        )
        return (int(hue), int(light), int(saturation)), contrast if abs(contrast) > 1e-3 else np.float32(0)

    def _framed(self, size: Size, rows: Rows, numbers: Numbers) -> tuple[int, int, Size, Rows]:
        """Pixels of a frame to the left and above, the size with the frame, and boxes in it."""
        share, largest = self._values["rand_pad_prob"], self._values["max_pad_scale"]
        if share > 0 and largest > 1 and numbers.uniform() < np.float32(share):
            scale = numbers.uniform(1, largest)
            if scale >= _SMALLEST_FRAME:
                x, y = numbers.uniform(0, scale - _ONE), numbers.uniform(0, scale - _ONE)
                (height, width), more = size, np.float32(scale)
                left, top = int(x * np.float32(width)), int(y * np.float32(height))
                right = int((more - x - _ONE) * np.float32(width))
                below = int((more - y - _ONE) * np.float32(height))
                rows = moved_into(rows, Box(-x, -y, more, more))
                return left, top, (height + top + below, width + left + right), rows
        return 0, 0, size, rows

    def _cropped(self, size: Size, rows: Rows, numbers: Numbers) -> tuple[tuple[int, int, int, int], Rows]:
        height, width = size
        if self._samplers and numbers.uniform() < np.float32(self._values["rand_crop_prob"]):
            ratio = np.float32(width) / np.float32(height)
            for place in numbers.order(len(self._samplers)):
                if (found := self._samplers[place].crop(ratio, rows, numbers)) is not None:
                    box, rows = found
                    window = [
                        int(one * np.float32(length))
                        for one, length in zip(
                            (box.left, box.top, box.width, box.height), (width, height) * 2, strict=True
                        )
                    ]
                    return (window[0], window[1], max(window[2], 1), max(window[3], 1)), rows
        return (0, 0, width, height), rows

    def _fitted(self, size: Size, numbers: Numbers) -> Scaling | None:
        mode, goal = self._values["resize_mode"], self._values["data_shape"][1:]
        if mode == "force":
            return self._scaling(size, goal, numbers)
        if mode == "shrink" and size[0] <= goal[0] and size[1] <= goal[1]:
            return None
        lengths, goals = np.array(size, np.float32), np.array(goal, np.float32)
        height, width = ((goals / lengths).min() * lengths).astype(int).tolist()
        return self._scaling(size, (height, width), numbers)


class _Sampler:
    """Windows of one kind: their sizes and shapes, and what they must have."""

    def __init__(self, values: Mapping[str, Any], number: int) -> None:
        def of(name: str) -> Any:
            given = values[name]
            return given[number] if len(given) > 1 else given[0]

        def pair(name: str) -> tuple[float, float]:
            return of(f"min_crop_{name}"), of(f"max_crop_{name}")

        self._scales, self._ratios, self._trials = pair("scales"), pair("aspect_ratios"), int(of("max_crop_trials"))
        self._rule = CropRule(
            overlaps=pair("overlaps"),
            sample_coverages=pair("sample_coverages"),
            object_coverages=pair("object_coverages"),
            by_centre=values["crop_emit_mode"] == "center",
            least=values["emit_overlap_thresh"],
        )

    def crop(self, ratio: np.float32, rows: Rows, numbers: Numbers) -> tuple[Box, Rows] | None:
        """Window in a picture of a shape, and its boxes; None if all trials fail."""
        boxes = self._windows(ratio, numbers.shares(4 * self._trials).reshape(-1, 4).T)
        taken = self._rule.takes(rows, boxes)
        place = int(taken.argmax()) if taken.any() else self._trials
        numbers.skip(4 * min(place + 1, self._trials))
        if place == self._trials:
            return None
        box = boxes.one(place)
        return box, self._rule.cut(rows, box)

    def _windows(self, ratio: np.float32, shares: Floats) -> Box:
        """Windows of all trials."""
        scale = between(shares[0], *np.array(self._scales, np.float32)) + np.float32(1e-12)
        low = np.maximum(np.float32(self._ratios[0]) / ratio, scale * scale)
        high = np.minimum(np.float32(self._ratios[1]) / ratio, _ONE / (scale * scale))
        shape = np.sqrt(np.maximum(between(shares[1], low, high), np.float32(0)))
        with np.errstate(divide="ignore", over="ignore"):
            width, height = np.minimum(_ONE, scale * shape), np.minimum(_ONE, scale / shape)
        left, top = between(shares[2], _ZERO, _ONE - width), between(shares[3], _ZERO, _ONE - height)
        return Box(left, top, width, height)
