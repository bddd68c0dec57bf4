"""Batches, their descriptions, and the base classes of iterators."""

from __future__ import annotations

from collections import namedtuple
from typing import Any, Self

import numpy as np

from recordmill.compat.mxnet.base import MisuseError, MXNetError


class DataDesc(namedtuple("DataDesc", ["name", "shape"])):  # noqa: PYI024, SLOT002 (programs unpack two values)
    """Name and shape of one array of a batch, with its dtype and layout as attributes."""

    dtype: Any
    layout: str

    def __new__(cls, name: str, shape: Any, dtype: Any = np.float32, layout: str = "NCHW") -> Self:
        """Create the pair and set the attributes."""
        desc = super().__new__(cls, name, shape)
        desc.dtype, desc.layout = dtype, layout
        return desc

    def __repr__(self) -> str:
        return f"DataDesc[{self.name},{self.shape},{self.dtype},{self.layout}]"


class DataBatch:
    """Arrays of one step."""

    def __init__(
        self,
        data: Any,
        label: Any = None,
        pad: int | None = None,
        index: Any = None,
        bucket_key: Any = None,
        provide_data: Any = None,
        provide_label: Any = None,
    ) -> None:
        for name, value in (("Data", data), ("Label", label)):
            if value is not None and not isinstance(value, list | tuple):
                raise MisuseError(f"{name} must be list of NDArrays", found=type(value).__name__)
        self.data, self.label, self.pad, self.index = data, label, pad, index
        self.bucket_key, self.provide_data, self.provide_label = bucket_key, provide_data, provide_label

    def __str__(self) -> str:
        shapes = [[array.shape for array in arrays] if arrays else None for arrays in (self.data, self.label)]
        return f"{type(self).__name__}: data shapes: {shapes[0]} label shapes: {shapes[1]}"


class DataIter:
    """Base class of iterators; subclasses implement `next`, or `iter_next` and the ``get`` methods."""

    def __init__(self, batch_size: int = 0) -> None:
        self.batch_size = batch_size

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> DataBatch:
        return self.next()

    def reset(self) -> None:
        """Start again."""

    def next(self) -> DataBatch:
        """Return the next batch; raise StopIteration at the end."""
        if not self.iter_next():
            raise StopIteration
        return DataBatch(self.getdata(), self.getlabel(), self.getpad(), self.getindex())

    def iter_next(self) -> bool:
        """Move to the next batch; return False at the end."""
        return False

    def getdata(self) -> Any:
        """Return the data of the current batch."""
        return None

    def getlabel(self) -> Any:
        """Return the labels of the current batch."""
        return None

    def getindex(self) -> Any:
        """Return the ids of the samples of the current batch."""
        return None

    def getpad(self) -> Any:
        """Return the number of rows that only fill the current batch."""
        return 0


class BatchHolder(DataIter):
    """Base class of iterators whose `iter_next` sets `current_batch`."""

    current_batch: Any = None

    def next(self) -> DataBatch:
        if not self.iter_next():
            raise StopIteration
        return self._current()

    def getdata(self) -> Any:
        return self._current().data

    def getlabel(self) -> Any:
        return self._current().label

    def getindex(self) -> Any:
        return self._current().index

    def getpad(self) -> Any:
        return self._current().pad

    def _current(self) -> DataBatch:
        if self.current_batch is None:
            raise MXNetError("there is no current batch: call iter_next first", kind="no_batch")
        return self.current_batch  # type: ignore[no-any-return]
