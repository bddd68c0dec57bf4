"""``mx.image.ImageIter``: batches built image by image in Python, with any augmenters."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np

from recordmill.compat.mxnet.base import MisuseError, MXNetError, ParameterError
from recordmill.compat.mxnet.image.augmenters import Augmenter, CreateAugmenter
from recordmill.compat.mxnet.image.functions import imdecode
from recordmill.compat.mxnet.image.samples import SampleSource
from recordmill.compat.mxnet.io.batches import DataBatch, DataDesc, DataIter
from recordmill.compat.mxnet.nd import wrap

_LAST_BATCH = ("pad", "discard", "roll_over")
_LABEL_DTYPES = ("int32", "float32", "int64", "float64")


class ImageIter(DataIter):
    """Batches of images from RecordIO files or image files, through augmenters."""

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
            raise ParameterError(f"batch_size must be positive, got {batch_size}", kind="bad_parameter")
        if last_batch_handle not in _LAST_BATCH:
            expected = ", ".join(_LAST_BATCH)
            raise ParameterError("unknown last_batch_handle", expected=expected, found=repr(last_batch_handle))
        if dtype not in _LABEL_DTYPES:
            raise MisuseError(f"{dtype} label not supported", expected=", ".join(_LABEL_DTYPES))
        self._source = SampleSource(path_imgrec, path_imgidx, path_imglist, imglist, path_root, dtype)
        self._source.select_part(part_index, num_parts, shuffle=shuffle)
        self.data_shape, self.label_width, self.shuffle = tuple(data_shape), label_width, shuffle
        self.auglist = CreateAugmenter(self.data_shape, **kwargs) if aug_list is None else aug_list  # type: ignore[arg-type]
        labels = (batch_size,) if label_width == 1 else (batch_size, label_width)
        self.provide_data = [DataDesc(data_name, (batch_size, *self.data_shape))]
        self.provide_label = [DataDesc(label_name, labels)]
        self.last_batch_handle = last_batch_handle
        self.path_root = path_root
        self._leftover: tuple[Any, Any, int] | None = None
        self._is_over = False
        self.reset()

    @property
    def seq(self) -> list[Any] | None:
        """Keys of the samples in order; None for a record file without an index."""
        return self._source.keys

    @seq.setter
    def seq(self, keys: list[Any]) -> None:
        self._source.keys = keys

    @property
    def cur(self) -> int:
        """Number of samples taken in this epoch."""
        return self._source.position

    @cur.setter
    def cur(self, position: int) -> None:
        self._source.position = position

    @property
    def num_image(self) -> int | None:
        """Number of samples; None for a record file without an index."""
        return None if self.seq is None else len(self.seq)

    @property
    def imgrec(self) -> Any:
        """The record file; None without one."""
        return self._source.record

    @property
    def imglist(self) -> Any:
        """Labels and file name of each key of the list; None without a list."""
        return self._source.listed

    def reset(self) -> None:
        """Start an epoch; with "roll_over" it continues a batch that was left over."""
        if self.shuffle:
            random.shuffle(self.seq or [])
        if self.last_batch_handle != "roll_over" or self._leftover is None:
            self._source.rewind()
            self._is_over = False

    def hard_reset(self) -> None:
        """Start an epoch and drop a batch that was left over."""
        self._leftover = None
        self.reset()

    def next(self) -> DataBatch:
        """Return the next batch."""
        if self._leftover is not None:
            data, label, count = self._leftover
        else:
            data = np.zeros((self.batch_size, *self.data_shape), np.float32)
            label = np.zeros(self.provide_label[0].shape, np.float32)
            count = self._fill(data, label, 0)
            if not count:
                raise StopIteration
        pad = self.batch_size - count
        if pad:
            if self.last_batch_handle == "discard":
                raise StopIteration
            if self.last_batch_handle == "roll_over" and self._leftover is None:
                self._leftover = (data, label, count)
                raise StopIteration
            self._fill(data, label, count)
            self._leftover, self._is_over = None, self.last_batch_handle == "pad"
        return DataBatch([wrap(data)], [wrap(label)], pad)

    def _fill(self, data: Any, label: Any, start: int) -> int:
        """Fill rows from `start` with samples; return the number of filled rows."""
        for row in range(start, self.batch_size):
            try:
                found, encoded = self.next_sample()
            except StopIteration:
                return row
            data[row] = self.postprocess_data(self.augmentation_transform(self.imdecode(encoded)))
            values = np.asarray(found)
            if values.size != self.label_width:
                message = f"a label has {values.size} values but label_width is {self.label_width}"
                raise ParameterError(message, kind="bad_label", **self._source.last)
            label[row] = values.reshape(label[row].shape)
        return self.batch_size

    def next_sample(self) -> tuple[Any, bytes]:
        """Return label and encoded image of the next sample; raise StopIteration at the end."""
        sample = None if self._is_over else self._source.take()
        if sample is None:
            if self.last_batch_handle != "discard" and not self._is_over:
                self._source.rewind()
            raise StopIteration
        return sample

    def imdecode(self, s: bytes) -> Any:
        """Decode an image; errors name the record."""
        try:
            return imdecode(s)
        except MXNetError as error:
            where = self._source.last
            message = f"Broken image {where.get('shard')}: {error.message}"
            raise MXNetError(message, kind="bad_image", expected=error.expected, found=error.found, **where) from error

    def read_image(self, fname: str) -> bytes:
        """Read an image file below the root folder."""
        return self._source.read_file(fname)

    def check_valid_image(self, data: Any) -> None:
        """Raise an error for an image without a shape."""
        if not data[0].shape:
            raise MXNetError("Data shape is wrong", kind="bad_image", **self._source.last)

    def augmentation_transform(self, data: Any) -> Any:
        """Apply the augmenters."""
        for augmenter in self.auglist:
            data = augmenter(data)
        return data

    def postprocess_data(self, datum: Any) -> Any:
        """Move the channels to the front."""
        return datum.transpose(2, 0, 1)

    def check_data_shape(self, data_shape: Sequence[int]) -> None:
        """Raise an error unless the shape is (3, height, width)."""
        if len(data_shape) != 3:
            raise ValueError("data_shape should have length 3, with dimensions CxHxW")
        if data_shape[0] != 3:
            raise ValueError("This iterator expects inputs to have 3 channels.")
