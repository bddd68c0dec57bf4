"""``mx.io.ImageDetRecordIter``: batches of images and padded labels, for object detection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import recordmill as rm
from recordmill.compat.mxnet.base import ParameterError
from recordmill.compat.mxnet.interpolation import RANDOM, kernel_name
from recordmill.compat.mxnet.io.augment import COLOR_SPACES
from recordmill.compat.mxnet.io.detection_augment import (
    Augmentation,
    AugmentationSampler,
    decode_and_augment_batch,
    split_detection_label,
)
from recordmill.compat.mxnet.io.image_record import BatchBuilder, ImageRecordIter
from recordmill.compat.mxnet.io.order import BatchRows, Span
from recordmill.compat.mxnet.io.parameters import is_augmented, read_detection_parameters
from recordmill.compat.mxnet.io.records import HEADER_BYTES, RecordTable, Samples

Ints = NDArray[np.int64]
Floats = NDArray[np.float32]
# A row of labels starts with this many values: channels, height, width and number of labels. The labels follow.
_PREFIX_LENGTH = 4
_SCAN_RECORDS = 1024


class _DetectionBatchBuilder(BatchBuilder):
    def __init__(self, values: dict[str, Any]) -> None:
        self._sampler = AugmentationSampler(values) if is_augmented(values) else None
        super().__init__(values)

    def _create_table(self) -> RecordTable:
        return _PaddedLabelTable(self.values)

    def _create_decoder(self) -> Any:
        return _ResizingDecoder(self.values)

    def chunks_by_range(self) -> list[list[Span]]:
        return [[(0, len(self.table))]]

    def _decode_samples(self, samples: Samples, records: BatchRows) -> NDArray[Any]:
        if self._sampler is None:
            return super()._decode_samples(samples, records)
        values = self.values
        try:
            augmentations = self._draw_augmentations(self._sampler, samples, records)
            shape, fill, threads = values["data_shape"], values["fill_value"], values["preprocess_threads"]
            pixels = decode_and_augment_batch(samples.images, augmentations, shape, fill, threads)
        except rm.DecodeError as error:
            raise self._to_mxnet_error(error, records) from error
        normalized: Floats = self.decoder.normalize(pixels)
        return normalized

    def _draw_augmentations(
        self, sampler: AugmentationSampler, samples: Samples, records: BatchRows
    ) -> list[Augmentation]:
        """Choose a random augmentation for each image, and apply it to the boxes in ``samples.labels``."""
        augmentations, sizes = [], rm.image_sizes(samples.images, like="mxnet", orientation="apply").tolist()
        generators = records.create_generators(self.values["seed"], None)
        for number, (row, (height, width)) in enumerate(zip(samples.labels, sizes, strict=True)):
            label = row[_PREFIX_LENGTH : _PREFIX_LENGTH + int(row[3])].copy()
            parts = split_detection_label(label)
            if parts is None:
                message = "the labels cannot be split into a header and boxes"
                expected = "a header of 2 or more values, and boxes of 5 or more values"
                location = self.table.locate_row(int(records.rows[number]))
                found = f"{len(label)} values; lengths of header and box: {label[:2].tolist()}"
                raise ParameterError(message, kind="bad_label", expected=expected, found=found, **location)
            # The size of an invalid image is 0. Decoding this image raises an error later.
            size = max(height, 1), max(width, 1)
            with np.errstate(all="ignore"):  # Infinite box coordinates cause NumPy warnings.
                augmentation = sampler.draw_augmentation(size, parts[1], generators[number])
            row[1:3], row[3:] = augmentation.size, self.values["label_pad_value"]
            _store_labels(row, np.concatenate([parts[0], augmentation.rows.ravel()]))
            augmentations.append(augmentation)
        return augmentations


class ImageDetRecordIter(ImageRecordIter):
    """``mx.io.ImageDetRecordIter``: batches of images and labels; all labels are padded to one length.

    A row of labels contains the channels, height and width of the image in the batch, the number of labels, the labels,
    and padding with `label_pad_value`. Empty boxes are dropped. `shuffle` uses the same order as ImageRecordIter;
    random numbers depend only on the seed, the epoch and the position.
    """

    _read_parameters = staticmethod(read_detection_parameters)
    _builder_type = _DetectionBatchBuilder


class _ResizingDecoder:
    """Decodes images without cropping, resizes them to `data_shape`, and returns ``(pixel - mean) / std * scale``."""

    dtype = np.dtype(np.float32)

    def __init__(self, values: Mapping[str, Any]) -> None:
        channels, *size = values["data_shape"]
        method = values["inter_method"]
        self._spec = rm.Image(
            like="mxnet",
            channels=COLOR_SPACES[channels],
            resize=rm.Resize(tuple(size)),
            kernel="opencv:auto" if method == RANDOM else kernel_name(method),
            dtype="uint8",
        )
        self._threads = values["preprocess_threads"]
        colors = "rgba"[:channels]
        self._mean, self._std = (
            np.array([values[f"{name}_{color}"] for color in colors], np.float32)[:, None, None]
            for name in ("mean", "std")
        )
        self._std[self._std <= 0] = 1
        self._scale = np.float32(values["scale"])

    def decode(self, images: Sequence[Any], records: BatchRows) -> Floats:
        del records
        return self.normalize(rm.decode_batch(list(images), {"data": self._spec}, threads=self._threads)["data"])

    def normalize(self, pixels: NDArray[np.uint8]) -> Floats:
        values: Floats = pixels.astype(np.float32)
        values -= self._mean
        values /= self._std
        values *= self._scale
        return values


class _PaddedLabelTable(RecordTable):
    """Table of records with different numbers of labels; all labels are padded to the length of the longest one."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        super().__init__({**values, "path_imglist": ""})
        self._shape = np.array(values["data_shape"], np.float32)
        self._expected_width, self._fill = values["label_width"], np.float32(values["label_pad_value"])
        longest, width = self._find_longest_label(), values["label_pad_width"]
        if 0 < width < longest:
            message = "label_pad_width must not be smaller than the largest number of labels in a record"
            raise ParameterError(message, expected=f"at least {longest}", found=str(width))
        self.label_width = _PREFIX_LENGTH + max(longest, width)

    def _find_longest_label(self) -> int:
        """Read the headers of all records, and return the largest number of labels in one record."""
        longest = 1
        for start in range(0, len(self), _SCAN_RECORDS):
            _, _, headers, _ = self._read_headers(np.arange(start, min(start + _SCAN_RECORDS, len(self))))
            longest = max(longest, int(headers["flag"].max()))
        return longest

    def _parse_labels(self, rows: Ints, headers: Any, data: NDArray[np.uint8], splits: Ints) -> Floats:
        labels = np.full((len(rows), self.label_width), self._fill, np.float32)
        labels[:, :3] = self._shape
        for row, flag in enumerate(headers["flag"].tolist()):
            if self._expected_width not in (-1, flag):
                message = f"the record has {flag} labels, but label_width is {self._expected_width}"
                raise ParameterError(message, kind="bad_label", **self.locate_row(int(rows[row])))
            start = int(splits[row]) + (HEADER_BYTES if flag else 4)
            values = data[start : start + 4 * max(flag, 1)].view("<f4").astype(np.float32)
            parts = split_detection_label(values)
            _store_labels(labels[row], values if parts is None else np.concatenate([parts[0], parts[1].ravel()]))
        return labels


def _store_labels(row: Floats, labels: Floats) -> None:
    row[3] = len(labels)
    row[_PREFIX_LENGTH : _PREFIX_LENGTH + len(labels)] = labels
