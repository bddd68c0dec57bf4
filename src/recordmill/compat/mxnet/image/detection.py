"""``mx.image.ImageDetIter``: batches of images and their boxes."""

from __future__ import annotations

import logging
import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from recordmill.compat.mxnet.base import MXNetError, UnsupportedError
from recordmill.compat.mxnet.image.augmenters import Augmenter, ForceResizeAug, ResizeAug, create_color_augmenters
from recordmill.compat.mxnet.image.image_iter import ImageIter
from recordmill.compat.mxnet.io.iterators import DataDesc
from recordmill.compat.mxnet.nd import flip

_LOGGER = logging.getLogger("mxnet")
# Length of the shortest valid label: a header of two values and one box of five values.
_MIN_LABEL_LENGTH = 7
CROP_HINT = "use rand_crop_prob and rand_pad_prob of mx.io.ImageDetRecordIter"
# Function that changes an image and its boxes, and returns both. A box is (class, left, top, right, bottom, ...).
BoxAugmenter = Callable[[Any, Any], tuple[Any, Any]]
# Parameters of ImageDetIter that its base class ImageIter receives. `_create_augmenters` receives all others.
_ITER_OPTIONS = (
    "path_imgrec path_imglist path_root path_imgidx shuffle part_index num_parts aug_list imglist data_name "
    "last_batch_handle"
)


def _wrap_image_augmenter(augmenter: Augmenter) -> BoxAugmenter:
    """Convert an image augmenter to an augmenter of images and boxes that leaves the boxes unchanged."""
    return lambda image, boxes: (augmenter(image), boxes)


def _mirror_at_random(image: Any, boxes: Any) -> tuple[Any, Any]:
    """Mirror an image and its boxes horizontally with probability 0.5; the boxes are changed in place."""
    if random.random() < 0.5:
        image = flip(image, axis=1)
        boxes[:, 1], boxes[:, 3] = 1.0 - boxes[:, 3], 1.0 - boxes[:, 1]
    return image, boxes


def _create_augmenters(
    data_shape: Sequence[int],
    resize: int = 0,
    rand_crop: float = 0,
    rand_pad: float = 0,
    rand_mirror: bool = False,
    inter_method: int = 2,
    **color_options: Any,
) -> list[BoxAugmenter]:
    """Create a list of augmenters from options, in MXNet's order. Each augmenter changes an image and its boxes."""
    if rand_crop > 0 or rand_pad > 0:
        raise UnsupportedError("rand_crop and rand_pad are not supported", hint=CROP_HINT)
    augmenters = [_wrap_image_augmenter(ResizeAug(resize, inter_method))] if resize > 0 else []
    augmenters += [_mirror_at_random] if rand_mirror else []
    plain = [ForceResizeAug((data_shape[2], data_shape[1]), inter_method), *create_color_augmenters(**color_options)]
    return augmenters + [_wrap_image_augmenter(one) for one in plain]


class ImageDetIter(ImageIter):
    """Batches of augmented images and their boxes, read from RecordIO files or image files.

    Labels are padded with rows of -1 to the largest number of boxes. Samples without valid boxes are skipped.
    """

    def __init__(
        self, batch_size: int, data_shape: Sequence[int], *, label_name: str = "label", **options: Any
    ) -> None:
        plain = {name: options.pop(name) for name in _ITER_OPTIONS.split() if name in options}
        aug_list = plain.pop("aug_list", None)
        super().__init__(batch_size, data_shape, aug_list=[], label_name=label_name, **plain)
        self.auglist = _create_augmenters(data_shape, **options) if aug_list is None else aug_list  # type: ignore[assignment]
        self._set_label_shape(label_name, self._estimate_label_shape())

    def _set_label_shape(self, name: str, shape: tuple[int, int]) -> None:
        self.label_shape = shape
        self.provide_label = [DataDesc(name, (self.batch_size, *shape))]

    def _estimate_label_shape(self) -> tuple[int, int]:
        """Read all labels; return the largest number of boxes of an image, and the number of values per box."""
        count = width = 0
        self.reset()
        while True:
            try:
                label, _ = self.next_sample()
            except StopIteration:
                break
            boxes = self._parse_label(label)
            count, width = max(count, len(boxes)), boxes.shape[1]
        self.reset()
        if not count:
            raise self._create_label_error("no sample has a box")
        return count, width

    def _parse_label(self, label: Any) -> Any:
        """Return the boxes of a label that have a positive width and height.

        A label consists of the header length, the box length, other header values, and the boxes.
        """
        raw = np.asarray(label).ravel()
        if raw.size < _MIN_LABEL_LENGTH:
            raise self._create_label_error(f"Label shape is invalid: {raw.shape}")
        header, width = int(raw[0]), int(raw[1])
        if width < 1 or (raw.size - header) % width:
            raise self._create_label_error(f"Label shape {raw.shape} inconsistent with annotation width {width}.")
        boxes = raw[header:].reshape(-1, width)
        boxes = boxes[(boxes[:, 3] > boxes[:, 1]) & (boxes[:, 4] > boxes[:, 2])]
        if not len(boxes):
            raise self._create_label_error("Encounter sample with no valid label.")
        return boxes

    def _check_valid_label(self, label: Any) -> None:
        is_valid = (label[:, 0] >= 0) & (label[:, 3] > label[:, 1]) & (label[:, 4] > label[:, 2])
        if not is_valid.any():
            raise self._create_label_error("Invalid label occurs.")

    def _create_label_error(self, message: str) -> MXNetError:
        return MXNetError(message, kind="bad_label", **self._location)

    def _fill_batch(self, data: Any, label: Any, start: int) -> int:
        """Fill the batch with samples, starting at row `start`; return the total number of filled rows."""
        row = start
        if not start:
            label[...] = -1
        while row < self.batch_size:
            try:
                raw, encoded = self.next_sample()
            except StopIteration:
                break
            image = self.imdecode(encoded)
            try:
                image, boxes = self.augmentation_transform(image, self._parse_label(raw))
                self._check_valid_label(boxes)
            except RuntimeError as error:
                _LOGGER.debug("Invalid image, skipping:  %s", error)
                continue
            data[row] = self.postprocess_data(image)
            label[row] = -1
            label[row, : len(boxes)] = boxes
            row += 1
        return row

    def augmentation_transform(self, data: Any, label: Any) -> Any:  # type: ignore[override]
        """Apply the augmenters to an image and its boxes."""
        for augmenter in self.auglist:
            data, label = augmenter(data, label)  # type: ignore[call-arg]
        return data, label

    def reshape(self, data_shape: Sequence[int] | None = None, label_shape: Sequence[int] | None = None) -> None:
        """Change the shapes of the batches; `label_shape` may only increase the number of boxes."""
        if data_shape is not None:
            self.check_data_shape(data_shape)
            self.provide_data = [DataDesc(self.provide_data[0].name, (self.batch_size, *data_shape))]
            self.data_shape = tuple(data_shape)
        if label_shape is not None:
            count, width = self.label_shape
            if len(label_shape) != 2 or label_shape[0] < count or label_shape[1] != width:
                raise ValueError(f"label_shape must be (n, {width}) with n >= {count}, got {tuple(label_shape)}")
            self._set_label_shape(self.provide_label[0].name, (label_shape[0], label_shape[1]))

    def sync_label_shape(self, it: ImageDetIter, verbose: bool = False) -> ImageDetIter:
        """Give the labels of this iterator and of `it` the same shape. The smaller number of boxes is increased."""
        del verbose
        if not isinstance(it, ImageDetIter):
            raise TypeError("Synchronize with invalid iterator.")
        shape = max(self.label_shape[0], it.label_shape[0]), self.label_shape[1]
        for one in (self, it):
            one.reshape(None, shape)
        return it
