"""Batches and their descriptions, and what every iterator of batches owes."""

from __future__ import annotations

from collections import namedtuple
from typing import Any, Self

import numpy as np

from recordmill.compat.mxnet.base import MisuseError


class DataDesc(namedtuple("DataDesc", ["name", "shape"])):  # noqa: PYI024, SLOT002 (programs unpack two values)
    """Name and shape of one array of a batch, with its dtype and layout as attributes."""

    dtype: Any
    layout: str

    def __new__(cls, name: str, shape: Any, dtype: Any = np.float32, layout: str = "NCHW") -> Self:
        """Make the pair and put the attributes beside it."""
        made = super().__new__(cls, name, shape)
        made.dtype, made.layout = dtype, layout
        return made

    def __repr__(self) -> str:
        """As MXNet prints it."""
        return f"DataDesc[{self.name},{self.shape},{self.dtype},{self.layout}]"

    @staticmethod
    def get_list(shapes: Any, types: Any) -> list[DataDesc]:
        """Descriptions of pairs of name and shape, with the dtypes of pairs of name and dtype."""
        known = dict(types or ())
        return [DataDesc(name, shape, known[name]) if known else DataDesc(name, shape) for name, shape in shapes]

    @staticmethod
    def get_batch_axis(layout: str | None) -> int:
        """Axis of the samples in a layout; 0 for None."""
        return 0 if layout is None else layout.find("N")


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
                raise MisuseError(f"{name} must be list of NDArrays", kind="bad_parameter", found=type(value).__name__)
        self.data, self.label, self.pad, self.index = data, label, pad, index
        self.bucket_key, self.provide_data, self.provide_label = bucket_key, provide_data, provide_label

    def __str__(self) -> str:
        """Shapes of the arrays."""
        shapes = [[array.shape for array in arrays] if arrays else None for arrays in (self.data, self.label)]
        return f"{type(self).__name__}: data shapes: {shapes[0]} label shapes: {shapes[1]}"


class DataIter:
    """An iterator of batches that `reset` sets to its beginning; subclasses have `next`, or `iter_next` and its kin."""

    def __init__(self, batch_size: int = 0) -> None:
        self.batch_size = batch_size

    def __iter__(self) -> Self:
        """Return the iterator itself, where it stands."""
        return self

    def __next__(self) -> DataBatch:
        """Return the next batch."""
        return self.next()

    def reset(self) -> None:
        """Begin again."""

    def next(self) -> DataBatch:
        """Return the next batch; StopIteration at the end."""
        if not self.iter_next():
            raise StopIteration
        return DataBatch(self.getdata(), self.getlabel(), self.getpad(), self.getindex())

    def iter_next(self) -> bool:
        """Move to the next batch; False at the end."""
        return False

    def getdata(self) -> Any:
        """Arrays of data of the batch."""
        return None

    def getlabel(self) -> Any:
        """Arrays of labels of the batch."""
        return None

    def getindex(self) -> Any:
        """Ids of the samples of the batch."""
        return None

    def getpad(self) -> Any:
        """Number of rows that only fill the batch up."""
        return 0
