"""``mx.image.ImageIter``: batches of images that are decoded and augmented one by one in Python."""

from __future__ import annotations

import os
import random
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from recordmill.compat.mxnet.base import MisuseError, MXNetError, ParameterError, convert_errors
from recordmill.compat.mxnet.image.augmenters import Augmenter, CreateAugmenter
from recordmill.compat.mxnet.image.functions import imdecode
from recordmill.compat.mxnet.io.iterators import LAST_BATCH, DataBatch, DataDesc, DataIter
from recordmill.compat.mxnet.nd import array, as_ndarray
from recordmill.compat.mxnet.recordio import MXIndexedRecordIO, MXRecordIO, unpack

_LABEL_DTYPES = ("int32", "float32", "int64", "float64")
# Maps the key of each image to its labels and file name.
ListedImages = dict[Any, tuple[Any, str]]


class HeaderError(MXNetError, ValueError, struct.error):
    """A record is too short for its header or its labels."""


class ImageIter(DataIter):
    """Batches of augmented images, read from RecordIO files or image files.

    `seq` has the keys of the samples in order, or is None for a record file without an index; `cur` is the number of
    samples taken in this epoch, `imgrec` the record file, and `imglist` the labels and file name of each key.
    """

    def __init__(
        self,
        batch_size: int,
        data_shape: Sequence[int],
        label_width: int = 1,
        path_imgrec: Any = None,
        path_imglist: Any = None,
        path_root: Any = None,
        path_imgidx: Any = None,
        shuffle: bool = False,
        part_index: int = 0,
        num_parts: int = 1,
        aug_list: list[Augmenter] | None = None,
        imglist: list[Any] | None = None,
        data_name: str = "data",
        label_name: str = "softmax_label",
        dtype: str = "float32",
        last_batch_handle: str = "pad",
        **kwargs: Any,
    ) -> None:
        super().__init__(batch_size)
        self.check_data_shape(data_shape)
        if batch_size < 1:
            raise ParameterError(f"batch_size must be positive, got {batch_size}")
        if last_batch_handle not in LAST_BATCH:
            raise ParameterError(f"last_batch_handle must be one of {LAST_BATCH}, got {last_batch_handle!r}")
        if dtype not in _LABEL_DTYPES:
            raise MisuseError(f"dtype must be one of {_LABEL_DTYPES}, got {dtype!r}")
        if not path_imgrec and not path_imglist and not isinstance(imglist, list):
            raise MisuseError("path_imgrec, path_imglist or imglist must be given")
        self.path_root, self.imglist = path_root, _load_labels_by_key(path_imglist, imglist, dtype)
        self.imgrec: MXRecordIO | None = None
        self.seq: list[Any] | None = None
        self.cur = 0
        # Shard and record of the sample that was read last, for error messages.
        self._location: dict[str, Any] = {}
        if not path_imgrec:
            self.seq = list(self.imglist or ())
        elif path_imgidx:
            self.imgrec = MXIndexedRecordIO(path_imgidx, path_imgrec, "r")
            self.seq = list(self.imgrec.keys)
        else:
            self.imgrec = MXRecordIO(path_imgrec, "r")
        self._select_part(part_index, num_parts, shuffle)
        self.num_image = None if self.seq is None else len(self.seq)
        self.data_shape, self.label_width, self.shuffle = tuple(data_shape), label_width, shuffle
        self.auglist = CreateAugmenter(self.data_shape, **kwargs) if aug_list is None else aug_list  # type: ignore[arg-type]
        labels = (batch_size,) if label_width == 1 else (batch_size, label_width)
        self.provide_data = [DataDesc(data_name, (batch_size, *self.data_shape))]
        self.provide_label = [DataDesc(label_name, labels)]
        self.last_batch_handle = last_batch_handle
        self._leftover: tuple[Any, Any, int] | None = None
        self._is_over = False
        self.reset()

    def _select_part(self, part: int, num_parts: int, shuffle: bool) -> None:
        if self.seq is None and (shuffle or num_parts > 1):
            raise MisuseError("path_imgidx is required if shuffle=True or num_parts > 1")
        if self.seq is not None and num_parts > 1:
            if not 0 <= part < num_parts:
                raise MisuseError(f"part_index must be in [0, {num_parts}), got {part}")
            length = len(self.seq) // num_parts
            self.seq = self.seq[part * length : (part + 1) * length]

    def reset(self) -> None:
        """Start the next epoch. With "roll_over", the epoch begins with the remaining samples of the previous one."""
        if self.shuffle:
            random.shuffle(self.seq or [])
        if self.last_batch_handle != "roll_over" or self._leftover is None:
            self._rewind_to_first_sample()
            self._is_over = False

    def hard_reset(self) -> None:
        """Start the next epoch, and drop the samples left over from the previous epoch."""
        self._leftover = None
        self.reset()

    def _rewind_to_first_sample(self) -> None:
        self.cur = 0
        if self.imgrec is not None and self.seq is None:
            self.imgrec.reset()

    def next(self) -> DataBatch:
        if self._leftover is not None:
            data, label, count = self._leftover
        else:
            data = np.zeros((self.batch_size, *self.data_shape), np.float32)
            label = np.zeros(self.provide_label[0].shape, np.float32)
            count = self._fill_batch(data, label, 0)
            if not count:
                raise StopIteration
        pad = self.batch_size - count
        if pad:
            if self.last_batch_handle == "discard":
                raise StopIteration
            if self.last_batch_handle == "roll_over" and self._leftover is None:
                self._leftover = (data, label, count)
                raise StopIteration
            self._fill_batch(data, label, count)
            self._leftover, self._is_over = None, self.last_batch_handle == "pad"
        return DataBatch([as_ndarray(data)], [as_ndarray(label)], pad)

    def _fill_batch(self, data: Any, label: Any, start: int) -> int:
        """Fill the batch with samples, starting at row `start`; return the total number of filled rows."""
        for row in range(start, self.batch_size):
            try:
                label_values, encoded = self.next_sample()
            except StopIteration:
                return row
            data[row] = self.postprocess_data(self.augmentation_transform(self.imdecode(encoded)))
            values = np.asarray(label_values)
            if values.size != self.label_width:
                message = f"a label has {values.size} values but label_width is {self.label_width}"
                raise ParameterError(message, kind="bad_label", **self._location)
            label[row] = values.reshape(label[row].shape)
        return self.batch_size

    def next_sample(self) -> tuple[Any, bytes]:
        """Return the label and the encoded image of the next sample; raise StopIteration at the end of the epoch."""
        sample = None if self._is_over else self._read_next_sample()
        if sample is None:
            if self.last_batch_handle != "discard" and not self._is_over:
                self._rewind_to_first_sample()
            raise StopIteration
        return sample

    def _read_next_sample(self) -> tuple[Any, bytes] | None:
        if self.seq is None:
            return self._read_record(None)
        if self.cur >= len(self.seq):
            return None
        key = self.seq[self.cur]
        if self.imgrec is not None:
            return self._read_record(key)
        listed: Any = self.imglist
        label, name = listed[key]
        data = self.read_image(name)
        self.cur += 1
        return label, data

    def _read_record(self, key: Any) -> tuple[Any, bytes] | None:
        record: Any = self.imgrec
        payload = record.read() if key is None else record.read_idx(key)
        self._location = {"shard": record.uri, "record": self.cur if key is None else key}
        if payload is None:
            if key is None:
                return None
            message = "the index file is invalid: no record starts at the offset of this key"
            raise MXNetError(message, kind="bad_index", **self._location)
        self.cur += 1
        try:
            header, data = unpack(payload)
        except (struct.error, ValueError) as error:
            message = f"the record is too short for its header or its labels: {error}"
            raise HeaderError(message, kind="bad_payload", **self._location) from error
        if self.imglist is None or key is None:
            return header.label, data
        if key not in self.imglist:
            raise MXNetError(f"fail to find imagelabel for id {key}", kind="bad_label", **self._location)
        return self.imglist[key][0], data

    def imdecode(self, s: bytes) -> Any:
        """Decode an image; if decoding fails, raise MXNetError with the location of the sample that was read last."""
        try:
            return imdecode(s)
        except MXNetError as error:
            message = f"Broken image {self._location.get('shard')}: {error.message}"
            raise MXNetError(message, kind="bad_image", **self._location) from error

    def read_image(self, fname: str) -> bytes:
        """Read an image file below the root folder."""
        path = os.path.join(self.path_root or "", fname)
        self._location = {"shard": path}
        with convert_errors():
            return Path(path).read_bytes()

    def check_valid_image(self, data: Any) -> None:
        """Raise MXNetError if the image ``data[0]`` is a scalar, that is, an array of shape ``()``."""
        if not data[0].shape:
            raise MXNetError("Data shape is wrong", kind="bad_image", **self._location)

    def augmentation_transform(self, data: Any) -> Any:
        """Apply the augmenters to an image."""
        for augmenter in self.auglist:
            data = augmenter(data)
        return data

    def postprocess_data(self, datum: Any) -> Any:
        """Move the channels of an image to the front."""
        return datum.transpose(2, 0, 1)

    def check_data_shape(self, data_shape: Sequence[int]) -> None:
        """Raise an error unless the shape is (3, height, width)."""
        if len(data_shape) != 3 or data_shape[0] != 3:
            raise ValueError(f"data_shape must be (3, height, width), got {tuple(data_shape)}")


def _load_labels_by_key(path: Any, entries: list[Any] | None, dtype: str) -> ListedImages | None:
    """Return the labels and the file name of each key, from a list file or from `entries`; None if neither is given."""
    if path:
        return _read_label_list(path, dtype)
    if not isinstance(entries, list):
        return None
    listed: ListedImages = {}
    for number, entry in enumerate(entries, 1):
        labels = entry[:-1] if len(entry) > 2 or isinstance(entry[0], int | float) else entry[0]
        listed[str(number)] = array(labels, dtype=dtype), entry[-1]
    return listed


def _read_label_list(path: Any, dtype: str) -> ListedImages:
    listed: ListedImages = {}
    with convert_errors():
        lines = Path(path).read_text("utf-8", "surrogateescape").removesuffix("\n").split("\n")
    for number, line in enumerate(lines, 1):
        fields = line.strip().split("\t")
        try:
            listed[int(fields[0])] = (array([float(field) for field in fields[1:-1]], dtype=dtype), fields[-1])
        except ValueError as error:
            message = f"line {number} must contain an index, labels and a path, separated by tabs"
            shard, found = os.fspath(path), repr(line[:80])
            raise ParameterError(message, kind="bad_list_line", shard=shard, found=found) from error
    return listed
