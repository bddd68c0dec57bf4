"""``mx.image.ImageDetIter``: batches of pictures and their boxes."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from recordmill.compat.mxnet.base import MXNetError, UnsupportedError
from recordmill.compat.mxnet.image.det_augmenters import CreateDetAugmenter
from recordmill.compat.mxnet.image.drawing import draw_rectangle
from recordmill.compat.mxnet.image.image_iter import ImageIter
from recordmill.compat.mxnet.io.batches import DataDesc

_LOGGER = logging.getLogger("mxnet")
# Of ImageNet, in levels.
_MEAN, _STD = np.array([123.68, 116.28, 103.53]), np.array([58.395, 57.12, 57.375])
_FEWEST = 7  # values of a label: a header of two, and one box of five


class ImageDetIter(ImageIter):
    """Batches of pictures and boxes from RecordIO files or image files, through augmenters.

    Labels are padded with rows of -1 to the largest number of boxes. Samples whose boxes are all removed are skipped.
    """

    def __init__(
        self,
        batch_size: int,
        data_shape: Sequence[int],
        path_imgrec: Any = None,
        path_imglist: Any = None,
        path_root: Any = None,
        path_imgidx: Any = None,
        shuffle: bool = False,
        part_index: int = 0,
        num_parts: int = 1,
        aug_list: list[Any] | None = None,
        imglist: list[Any] | None = None,
        data_name: str = "data",
        label_name: str = "label",
        last_batch_handle: str = "pad",
        **kwargs: Any,
    ) -> None:
        super().__init__(
            batch_size,
            data_shape,
            path_imgrec=path_imgrec,
            path_imglist=path_imglist,
            path_root=path_root,
            path_imgidx=path_imgidx,
            shuffle=shuffle,
            part_index=part_index,
            num_parts=num_parts,
            aug_list=[],
            imglist=imglist,
            data_name=data_name,
            label_name=label_name,
            last_batch_handle=last_batch_handle,
        )
        self.auglist = CreateDetAugmenter(data_shape, **kwargs) if aug_list is None else aug_list  # type: ignore[assignment]
        self._empty = -1.0
        self._shape_label(label_name, self._estimate_label_shape())

    def _shape_label(self, name: str, shape: tuple[int, int]) -> None:
        self.label_shape = shape
        self.provide_label = [DataDesc(name, (self.batch_size, *shape))]

    def _estimate_label_shape(self) -> tuple[int, int]:
        most = width = 0
        self.reset()
        while True:
            try:
                label, _ = self.next_sample()
            except StopIteration:
                break
            found = self._parse_label(label)
            most, width = max(most, len(found)), found.shape[1]
        self.reset()
        if not most:
            raise MXNetError("no sample has a box", kind="bad_label", **self._source.last)
        return most, width

    def _parse_label(self, label: Any) -> Any:
        """Boxes of a label: width of the header, width of a box, the rest of the header, boxes."""
        raw = np.asarray(label).ravel()
        if raw.size < _FEWEST:
            raise self._wrong(f"Label shape is invalid: {raw.shape}")
        header, width = int(raw[0]), int(raw[1])
        if width < 1 or (raw.size - header) % width:
            raise self._wrong(f"Label shape {raw.shape} inconsistent with annotation width {width}.")
        found = raw[header:].reshape(-1, width)
        found = found[(found[:, 3] > found[:, 1]) & (found[:, 4] > found[:, 2])]
        if not len(found):
            raise self._wrong("Encounter sample with no valid label.")
        return found

    def _wrong(self, message: str) -> MXNetError:
        return MXNetError(message, kind="bad_label", **self._source.last)

    def _check_valid_label(self, label: Any) -> None:
        kept = (label[:, 0] >= 0) & (label[:, 3] > label[:, 1]) & (label[:, 4] > label[:, 2])
        if not kept.any():
            raise self._wrong("Invalid label occurs.")

    def _fill(self, data: Any, label: Any, start: int) -> int:
        """Put samples into rows from `start` on; return the row behind the last one."""
        row = start
        if not start:
            label[...] = self._empty
        while row < self.batch_size:
            try:
                found, encoded = self.next_sample()
            except StopIteration:
                break
            picture = self.imdecode(encoded)
            try:
                picture, boxes = self.augmentation_transform(picture, self._parse_label(found))
                self._check_valid_label(boxes)
            except RuntimeError as error:
                _LOGGER.debug("Invalid image, skipping:  %s", error)
                continue
            data[row] = self.postprocess_data(picture)
            label[row] = self._empty
            label[row, : len(boxes)] = boxes
            row += 1
        return row

    def augmentation_transform(self, data: Any, label: Any) -> Any:  # type: ignore[override]
        """Apply the augmenters."""
        for augmenter in self.auglist:
            data, label = augmenter(data, label)  # type: ignore[call-arg]
        return data, label

    def reshape(self, data_shape: Sequence[int] | None = None, label_shape: tuple[int, int] | None = None) -> None:
        """Give batches of other shapes."""
        if data_shape is not None:
            self.check_data_shape(data_shape)
            self.provide_data = [DataDesc(self.provide_data[0].name, (self.batch_size, *data_shape))]
            self.data_shape = tuple(data_shape)
        if label_shape is not None:
            self.check_label_shape(label_shape)
            self._shape_label(self.provide_label[0].name, (label_shape[0], label_shape[1]))

    def check_label_shape(self, label_shape: Sequence[int]) -> None:
        """Refuse shapes with fewer boxes, or boxes of another width."""
        if len(label_shape) != 2:
            raise ValueError("label_shape should have length 2")
        if label_shape[0] < self.label_shape[0]:
            raise ValueError(
                f"Attempts to reduce label count from {self.label_shape[0]} to {label_shape[0]}, not allowed."
            )
        if label_shape[1] != self.label_shape[1]:
            raise ValueError(f"label_shape object width inconsistent: {self.label_shape[1]} vs {label_shape[1]}.")

    def sync_label_shape(self, it: ImageDetIter, verbose: bool = False) -> ImageDetIter:
        """Give this and another iterator labels of as many boxes."""
        if not isinstance(it, ImageDetIter):
            raise TypeError("Synchronize with invalid iterator.")
        if self.label_shape[1] != it.label_shape[1]:
            raise ValueError("object width mismatch.")
        shape = max(self.label_shape[0], it.label_shape[0]), self.label_shape[1]
        for one in (self, it):
            if verbose and one.label_shape != shape:
                _LOGGER.info("Resized label_shape from %s to %s.", one.label_shape, shape)
            one.reshape(None, shape)
        return it

    def draw_next(
        self,
        color: Any = None,
        thickness: int = 2,
        mean: Any = None,
        std: Any = None,
        clip: bool = True,
        waitKey: int | None = None,  # noqa: N803 (MXNet's)
        window_name: str = "draw_next",
        id2labels: Any = None,
    ) -> Iterator[Any]:
        """Give one picture after the other with its boxes drawn, as arrays of uint8 with blue first."""
        del window_name
        if waitKey is not None or id2labels is not None:
            message, found = (
                "draw_next shows no window and writes no names",
                "waitKey" if waitKey is not None else "id2labels",
            )
            raise UnsupportedError(
                message, kind="unsupported", found=found, hint="show or write on the arrays it gives"
            )
        means, deviations = _levels(mean, _MEAN, 0), _levels(std, _STD, 1)
        while True:
            try:
                label, encoded = self.next_sample()
            except StopIteration:
                return
            picture = self.imdecode(encoded)
            try:
                boxes = self._parse_label(label)
            except RuntimeError as error:
                _LOGGER.debug("Invalid image, skipping:  %s", error)
                continue
            picture, boxes = self.augmentation_transform(picture, boxes)
            values = (picture.asnumpy() * deviations).astype(picture.dtype)
            values = (values + means).astype(picture.dtype)
            values = np.clip(values, 0, 255) if clip else values
            yield _with_boxes(np.ascontiguousarray(values.astype(np.uint8)[:, :, ::-1]), boxes, color, thickness)


def _levels(value: Any, usual: Any, otherwise: float) -> Any:
    return otherwise if value is None else usual if value is True else value


def _with_boxes(pixels: Any, boxes: Any, colour: Any, thickness: int) -> Any:
    """Picture with the borders of boxes, of which those that begin left of it are left out."""
    sides = np.array([pixels.shape[1], pixels.shape[0]] * 2)
    for x1, y1, x2, y2 in (boxes[:, 1:5] * sides).astype(int).tolist():
        if x1 >= 0:
            drawn = colour[::-1] if colour else np.random.rand(3) * 255  # noqa: NPY002 (np.random.seed repeats it)
            draw_rectangle(pixels, (x1, y1), (x2, y2), drawn, thickness)
    return pixels
