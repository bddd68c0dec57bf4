"""``tf.image.sample_distorted_bounding_box``, ``draw_bounding_boxes`` and ``crop_and_resize``.

References
----------
tensorflow/core/kernels/image/sample_distorted_bounding_box_op.cc (kinds and order of the random numbers).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

import recordmill as rm
from recordmill.compat.tensorflow.core import dtypes
from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError, OutOfRangeError
from recordmill.compat.tensorflow.core.random_state import current_generator
from recordmill.compat.tensorflow.core.tensor import Tensor
from recordmill.compat.tensorflow.images import philox
from recordmill.compat.tensorflow.images.arguments import raise_invalid, to_number

# Crop window: top, left, height and width, in pixels.
Crop = tuple[int, int, int, int]

_NUM_WORDS = 2**32
_NATIVE_DTYPES = (np.uint8, np.uint16, np.float32)
# Default outline colors as RGBA: yellow, blue, red, lime, purple, olive, maroon, navy, aqua and fuchsia.
_COLORS = np.array(
    [
        *((1, 1, 0, 1), (0, 0, 1, 1), (1, 0, 0, 1), (0, 1, 0, 1), (0.5, 0, 0.5, 1)),
        *((0.5, 0.5, 0, 1), (0.5, 0, 0, 1), (0, 0, 0.5, 1), (0, 1, 1, 1), (1, 0, 1, 1)),
    ],
    np.float32,
)


@op("image.sample_distorted_bounding_box", always=True)
def sample_distorted_bounding_box(
    image_size: Any,
    bounding_boxes: Any,
    seed: int = 0,
    min_object_covered: Any = 0.1,
    aspect_ratio_range: Sequence[float] | None = None,
    area_range: Sequence[float] | None = None,
    max_attempts: int | None = None,
    use_image_if_no_bounding_boxes: bool | None = None,
) -> tuple[Tensor, ...]:
    """``tf.image.sample_distorted_bounding_box``: sample a random crop window that covers enough of a box."""
    limits = _WindowLimits.from_arguments(min_object_covered, aspect_ratio_range, area_range, max_attempts)
    numbers = current_generator(seed or None)
    words = iter(lambda: int(numbers.integers(0, _NUM_WORDS)), None)
    return _sample_window_tensors(words, image_size, bounding_boxes, limits, bool(use_image_if_no_bounding_boxes))


@op("image.stateless_sample_distorted_bounding_box")
def stateless_sample_distorted_bounding_box(
    image_size: Any,
    bounding_boxes: Any,
    seed: Any,
    min_object_covered: Any = 0.1,
    aspect_ratio_range: Sequence[float] | None = None,
    area_range: Sequence[float] | None = None,
    max_attempts: int | None = None,
    use_image_if_no_bounding_boxes: bool | None = None,
) -> tuple[Tensor, ...]:
    """``tf.image.stateless_sample_distorted_bounding_box``: sample the same crop window as TensorFlow for `seed`."""
    limits = _WindowLimits.from_arguments(min_object_covered, aspect_ratio_range, area_range, max_attempts)
    return _sample_window_tensors(
        philox.iterate_random_words(seed), image_size, bounding_boxes, limits, bool(use_image_if_no_bounding_boxes)
    )


@dataclass(frozen=True, slots=True)
class _WindowLimits:
    """Limits for sampling crop windows: overlap with a box, aspect ratio, relative area and number of attempts."""

    min_covered: float
    aspect_ratios: tuple[float, float]
    areas: tuple[float, float]
    max_attempts: int

    @classmethod
    def from_arguments(
        cls, covered: Any, ratios: Sequence[float] | None, areas: Sequence[float] | None, attempts: int | None
    ) -> _WindowLimits:
        """Create window limits from TensorFlow's arguments; raise InvalidArgumentError if an argument is invalid."""
        low, high = (0.75, 1.33) if ratios is None else ratios
        smallest, largest = (0.05, 1.0) if areas is None else areas
        max_attempts, min_covered = 100 if attempts is None else attempts, float(to_number(covered))
        if min_covered < 0:
            raise_invalid(f"min_object_covered must not be negative, got {min_covered}")
        if not 0 < low <= high:
            raise_invalid(f"aspect_ratio_range must satisfy 0 < min <= max, got {low}, {high}")
        if not 0 < smallest <= largest <= 1:
            raise_invalid(f"area_range must satisfy 0 < min <= max <= 1, got {smallest}, {largest}")
        if max_attempts <= 0:
            raise_invalid(f"max_attempts must be positive, got {max_attempts}")
        return cls(min_covered, (low, high), (smallest, largest), max_attempts)

    def sample_window(self, words: Iterator[int], height: int, width: int, boxes: NDArray[np.int64]) -> Crop | None:
        """Sample windows until one window covers enough of a box. Return None after `max_attempts` failed attempts."""
        low, high = np.float32(self.aspect_ratios[0]), np.float32(self.aspect_ratios[1])
        for _ in range(self.max_attempts):
            ratio = philox.word_to_unit_float(next(words)) * (high - low) + low
            crop = self._sample_one_window(words, height, width, ratio)
            if crop is not None and _covers_box(crop, boxes, self.min_covered):
                return crop
        return None

    def _sample_one_window(self, words: Iterator[int], height: int, width: int, ratio: np.float32) -> Crop | None:
        smallest, largest = (np.float32(area) * np.float32(width) * np.float32(height) for area in self.areas)
        min_height, max_height = (_round_to_int(np.sqrt(area / ratio)) for area in (smallest, largest))
        max_height = min(_reduce_height_to_fit_width(max_height, width, ratio), height)
        crop_height = min(min_height, max_height)
        if crop_height < max_height:
            crop_height += _draw_integer_below(words, max_height - crop_height + 1)
        crop_width = _round_to_int(np.float32(crop_height) * ratio)
        # Because of rounding, the area of the window may be too small or too large. Then add or remove one row.
        if crop_height * crop_width < smallest:
            crop_height += 1
            crop_width = _round_to_int(np.float32(crop_height) * ratio)
        if crop_height * crop_width > largest:
            crop_height -= 1
            crop_width = _round_to_int(np.float32(crop_height) * ratio)
        is_valid = smallest <= crop_height * crop_width <= largest
        if not (is_valid and 0 < crop_width <= width and 0 < crop_height <= height):
            return None
        y = _draw_integer_below(words, height - crop_height) if crop_height < height else 0
        x = _draw_integer_below(words, width - crop_width) if crop_width < width else 0
        return y, x, crop_height, crop_width


def _sample_window_tensors(
    words: Iterator[int], image_size: Any, boxes: Any, limits: _WindowLimits, use_image: bool
) -> tuple[Tensor, ...]:
    """Sample a crop window. Return its offset and size in pixels, and its corners as fractions of the image size."""
    size, given = array_of(image_size), array_of(boxes, dtypes.float32)
    if size.shape != (3,):
        raise_invalid(f"image_size must have 3 elements, got shape {size.shape}")
    if given.ndim != 3 or given.shape[2] != 4:
        raise_invalid(f"bounding_boxes must have shape (batch, n, 4), got {given.shape}")
    height, width = int(size[0]), int(size[1])
    if height <= 0 or width <= 0:
        raise_invalid(f"height and width of the image must be positive, got {height} and {width}")
    if given.size and (given.min() < 0 or given.max() > 1):
        raise_invalid(f"bounding_boxes must contain values in [0, 1], got {given.min()} to {given.max()}")
    sides = np.array([height, width, height, width], np.float32)
    corners = (given.reshape(-1, 4) * sides).astype(np.int64)
    if not len(corners):
        if not use_image:
            raise_invalid("bounding_boxes is empty; set use_image_if_no_bounding_boxes=True to use the whole image")
        corners = np.array([[0, 0, height, width]])
    y, x, crop_height, crop_width = limits.sample_window(words, height, width, corners) or (0, 0, height, width)
    box = np.array([y, x, y + crop_height, x + crop_width], np.float32) / sides
    begin, lengths = np.array([y, x, 0], size.dtype), np.array([crop_height, crop_width, -1], size.dtype)
    return Tensor(begin), Tensor(lengths), Tensor(box.reshape(1, 1, 4))


def _draw_integer_below(words: Iterator[int], limit: int) -> int:
    """Draw an integer in [0, `limit`); skip random words that would make some integers more likely than others."""
    first = (_NUM_WORDS - 1) % limit + 1 if limit & (limit - 1) else 0
    word = next(words)
    while word < first:
        word = next(words)
    return word % limit


def _round_to_int(number: Any) -> int:
    return int(np.rint(number))


def _reduce_height_to_fit_width(height: int, width: int, ratio: np.float32) -> int:
    """Reduce the height of a window until the rounded product ``height * ratio`` is at most `width`."""
    if _round_to_int(np.float32(height) * ratio) > width:
        height = int((width + 0.5 - 0.0000001) / float(ratio))
        if _round_to_int(np.float32(height) * ratio) > width:
            height -= 1
    return height


def _covers_box(crop: Crop, boxes: NDArray[np.int64], min_covered: float) -> bool:
    y, x, height, width = crop
    for top, left, bottom, right in boxes.tolist():
        area = (bottom - top) * (right - left)
        if area < 1:
            continue
        common = max(min(y + height, bottom) - max(y, top), 0) * max(min(x + width, right) - max(x, left), 0)
        if np.float32(common) / np.float32(area) >= np.float32(min_covered):
            return True
    return False


@op("image.draw_bounding_boxes")
def draw_bounding_boxes(images: Any, boxes: Any, colors: Any = None) -> Tensor:
    """``tf.image.draw_bounding_boxes``: draw the outlines of boxes, one pixel wide."""
    canvas, places = array_of(images).copy(), np.asarray(array_of(boxes), np.float32)
    if canvas.ndim != 4 or places.ndim != 3 or places.shape[2] != 4 or len(canvas) != len(places):
        raise_invalid(
            "images and boxes must have the shapes (batch, height, width, channels) and (batch, n, 4), got "
            f"{canvas.shape} and {places.shape}"
        )
    height, width, channels = canvas.shape[1:]
    if channels not in (1, 3, 4):
        raise_invalid(f"images must have 1, 3 or 4 channels, got {channels}")
    table = np.empty(0) if colors is None else np.asarray(array_of(colors))
    if not table.size:
        table = np.ones_like(_COLORS) if channels == 1 else _COLORS
    corners = (places * np.array([height - 1, width - 1] * 2, np.float32)).astype(np.int64)
    for image, found in zip(canvas, corners.tolist(), strict=True):
        for number, box in enumerate(found):
            _draw_outline(image, box, table[number % len(table)][:channels])
    return Tensor(canvas)


def _draw_outline(image: NDArray[Any], box: list[int], color: NDArray[Any]) -> None:
    height, width = image.shape[:2]
    top, left, bottom, right = box
    if top > bottom or left > right:
        return
    rows, columns = slice(max(top, 0), max(bottom + 1, 0)), slice(max(left, 0), max(right + 1, 0))
    for row in {top, bottom} & {*range(height)}:
        image[row, columns] = color
    for column in {left, right} & {*range(width)}:
        image[rows, column] = color


@op("image.crop_and_resize")
def crop_and_resize(
    image: Any,
    boxes: Any,
    box_indices: Any,
    crop_size: Any,
    method: str = "bilinear",
    extrapolation_value: float = 0.0,
) -> Tensor:
    """``tf.image.crop_and_resize``: crop boxes from images and resize them to one size."""
    images, places = array_of(image), np.asarray(array_of(boxes), np.float32)
    indices, sides = np.atleast_1d(array_of(box_indices)), array_of(crop_size)
    if method not in ("bilinear", "nearest"):
        raise_invalid(f"method must be 'bilinear' or 'nearest', got {method!r}")
    if sides.shape != (2,) or sides.min() < 1:
        raise_invalid(f"crop_size must be 2 positive integers, got {sides.tolist()}")
    if images.ndim != 4 or 0 in images.shape[1:3] or places.shape != (len(indices), 4):
        raise_invalid(
            "image and boxes must have the shapes (batch, height, width, channels), not empty, and "
            f"({len(indices)}, 4), one box per entry of box_indices, got {images.shape} and {places.shape}"
        )
    if len(indices) and not 0 <= indices.min() <= indices.max() < len(images):
        raise OutOfRangeError(f"box_indices must be in [0, {len(images)}), got {indices.min()} to {indices.max()}")
    if not np.isfinite(places).all():
        raise InvalidArgumentError("boxes must contain only finite numbers")
    size = (int(sides[0]), int(sides[1]))
    if 0 in (len(indices), images.shape[3]):
        return Tensor(np.zeros((len(indices), *size, images.shape[3]), np.float32))
    pixels = images if images.dtype in _NATIVE_DTYPES else images.astype(np.float32)
    kernel: Literal["bilinear", "nearest"] = "nearest" if method == "nearest" else "bilinear"
    return Tensor(rm.resize_boxes(pixels, places, indices, size, kernel=kernel, fill=float(extrapolation_value)))
