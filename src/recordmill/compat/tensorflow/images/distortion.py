"""``tf.image.sample_distorted_bounding_box``: windows of random area and shape, as ImageNet training cuts them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.core import dtypes
from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.draws import generator
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.tensor import Tensor
from recordmill.compat.tensorflow.images.crops import CropRule, Source
from recordmill.compat.tensorflow.images.philox import Philox

_NO_BOXES = (
    "No bounding boxes provided as input. One must enable use_image_if_no_bounding_boxes if you wish to not provide "
    "any bounding boxes."
)


class _Words(Protocol):
    def word(self) -> int:
        """Take the next 32 bits."""


class _Drawn:
    """Words of NumPy's generator."""

    def __init__(self, draws: np.random.Generator) -> None:
        self._draws = draws

    def word(self) -> int:
        """Take the next 32 bits."""
        return int(self._draws.integers(0, 2**32))


def _sampled(words: _Words, image_size: Any, boxes: Any, rule: CropRule, use_image: bool) -> tuple[Tensor, ...]:
    size, objects = array_of(image_size), array_of(boxes, dtypes.float32)
    if size.shape != (3,):
        raise InvalidArgumentError(f"image_size must be 1-dimensional with 3 elements, got {list(size.shape)}")
    if objects.ndim != 3 or objects.shape[2] != 4:
        raise InvalidArgumentError(f"bounding_boxes must be 3-dimensional with 4 columns, got {list(objects.shape)}")
    height, width = int(size[0]), int(size[1])
    if height <= 0 or width <= 0:
        raise InvalidArgumentError(f"image height and width must be positive, got {height} and {width}")
    corners = _in_pixels(objects.reshape(-1, 4), height, width)
    if not len(corners):
        if not use_image:
            raise InvalidArgumentError(_NO_BOXES, kind="bad_argument")
        corners = np.array([[0, 0, height, width]])
    y, x, tall, wide = rule.crop(Source(words), height, width, corners) or (0, 0, height, width)
    box = np.array([y, x, y + tall, x + wide], np.float32) / np.array([height, width, height, width], np.float32)
    begin, lengths = np.array([y, x, 0], size.dtype), np.array([tall, wide, -1], size.dtype)
    return Tensor(begin), Tensor(lengths), Tensor(box.reshape(1, 1, 4))


def _in_pixels(boxes: NDArray[np.float32], height: int, width: int) -> NDArray[np.int64]:
    """Upper, left, lower and right side of boxes that are given as parts of the image's sides."""
    if boxes.size and (boxes.min() < 0 or boxes.max() > 1):
        raise InvalidArgumentError("All bounding box coordinates must be in [0.0, 1.0]", kind="bad_argument")
    return (boxes * np.array([height, width, height, width], np.float32)).astype(np.int64)


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
    name: str | None = None,
) -> tuple[Tensor, ...]:
    """Window of an image, drawn until it covers enough of one of the objects."""
    rule = CropRule.checked(min_object_covered, aspect_ratio_range, area_range, max_attempts)
    words = _Drawn(generator(seed or None))
    return _sampled(words, image_size, bounding_boxes, rule, bool(use_image_if_no_bounding_boxes))


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
    name: str | None = None,
) -> tuple[Tensor, ...]:
    """Window of an image that follows from a pair of seeds, as in TensorFlow."""
    rule = CropRule.checked(min_object_covered, aspect_ratio_range, area_range, max_attempts)
    return _sampled(Philox(seed), image_size, bounding_boxes, rule, bool(use_image_if_no_bounding_boxes))
