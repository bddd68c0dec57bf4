"""Decoders of numbers and byte strings."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.oneflow.dtypes import number_type
from recordmill.compat.oneflow.features import Field, raise_feature_error, raise_unsupported
from recordmill.compat.oneflow.image_decoders import split_rows
from recordmill.compat.oneflow.module import Module
from recordmill.compat.oneflow.tensors import Place, Records, Tensor, TensorBuffer, tensor_of
from recordmill.types import Ragged


def cast(values: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Cut fractions, keep low bits of whole numbers; floats that do not fit become the smallest number."""
    if values.dtype.kind == "f" and dtype.kind in "iu":
        wide = np.dtype("int64") if dtype.itemsize == 8 else np.dtype("int32")
        return _whole(values, wide).astype(dtype)
    with np.errstate(over="ignore"):
        return values.astype(dtype)


def _whole(values: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    cut, top = np.trunc(values.astype(np.float64)), 2.0 ** (8 * dtype.itemsize - 1)
    fits = (cut >= -top) & (cut < top)
    return np.where(fits, cut, -top).astype(dtype)


class OFRecordRawDecoder(Module):
    """Numbers of one feature as one array for each batch."""

    def __init__(
        self,
        blob_name: str,
        shape: Sequence[int],
        dtype: Any,
        dim1_varying_length: bool = False,
        truncate: bool = False,
        auto_zero_padding: bool = False,
        name: str | None = None,
    ) -> None:
        del name
        if dim1_varying_length:
            raise_unsupported("dim1_varying_length", True, "read lists of different lengths with `recordmill.open`")
        if auto_zero_padding:
            warnings.warn("auto_zero_padding is deprecated, use truncate", DeprecationWarning, stacklevel=2)
        if not isinstance(shape, list | tuple) or any(not isinstance(size, int) or size < 0 for size in shape):
            raise TypeError(f"shape is a sequence of whole numbers from 0 on, not {shape!r}")
        self.shape, self.dtype = tuple(shape), number_type(dtype)
        self.truncate = truncate or auto_zero_padding
        self._count = math.prod(self.shape)
        self._field = Field(blob_name)

    def forward(self, records: Records) -> Tensor:
        """Values of a batch, shape (batch, *shape)."""
        found = self._field.values(records)
        if found is None:
            decoded = np.stack([self._one(records, position) for position in range(len(records))])
        else:
            decoded = self._all(records, *found)
        return tensor_of(decoded.reshape(len(records), *self.shape))

    def _all(self, records: Records, kind: str, rows: Ragged) -> NDArray[Any]:
        if kind == "bytes_list":
            rows = Ragged(rows.data.view(np.int8), rows.row_splits)
        counts = np.diff(rows.row_splits)
        wrong = np.flatnonzero(counts != self._count)
        if len(wrong) and not self.truncate and kind != "bytes_list":
            self._refuse(int(counts[wrong[0]]), records.places[wrong[0]])
        return cast(rows.to_padded(0, self._count) if len(wrong) else rows.data, self.dtype)

    def _one(self, records: Records, position: int) -> NDArray[Any]:
        kind, found = self._field.row(records, position)
        place = records.places[position]
        if kind == "bytes_list":
            found = np.frombuffer(self._field.only(found, place), np.int8)
        elif len(found) != self._count and not self.truncate:
            self._refuse(len(found), place)
        values = np.zeros(self._count, self.dtype)
        used = found[: self._count]
        values[: len(used)] = cast(used, self.dtype)
        return values

    def _refuse(self, found: int, place: Place) -> None:
        check = f"Check failed: sample_elem_cnt == list.value_size() ({self._count} vs. {found})"
        raise_feature_error(self._field.name, place, check, f"{self._count} values", str(found))


class OFRecordBytesDecoder(Module):
    """The byte string of one feature of each record."""

    def __init__(self, blob_name: str, name: str | None = None) -> None:
        del name
        self._field = Field(blob_name)

    def forward(self, records: Records) -> TensorBuffer:
        """Byte strings of a batch, as arrays of uint8 of one dimension."""
        return TensorBuffer(split_rows(self._field.strings(records)), records.places)
