"""``OFRecordRawDecoder`` and ``OFRecordBytesDecoder``: decode features that contain numbers or byte strings."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.oneflow.module import Module
from recordmill.compat.oneflow.records import FeatureParser, Location, RecordBatch, view_strings
from recordmill.compat.oneflow.tensors import Tensor, TensorBuffer, as_tensor, to_supported_dtype
from recordmill.compat.oneflow.unsupported import raise_unsupported
from recordmill.types import Ragged


def cast_like_c(values: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Convert numbers to `dtype` as C does on x86.

    If `dtype` is an integer type, floats are first converted to int32, or to int64 if `dtype` has 8 bytes. Fractions
    are truncated, and a float outside the range of this integer type becomes its smallest value.
    """
    if values.dtype.kind != "f" or dtype.kind not in "iu":
        with np.errstate(over="ignore"):
            return values.astype(dtype)
    wide = np.dtype("int64") if dtype.itemsize == 8 else np.dtype("int32")
    truncated, limit = np.trunc(values.astype(np.float64)), 2.0 ** (8 * wide.itemsize - 1)
    fits = (truncated >= -limit) & (truncated < limit)
    return np.where(fits, truncated, -limit).astype(wide).astype(dtype)


class OFRecordRawDecoder(Module):
    """``flow.nn.OFRecordRawDecoder``: decode the numbers in one feature to one array per batch."""

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
            raise_unsupported("dim1_varying_length", True, "read lists of different lengths with recordmill.open")
        if not isinstance(shape, list | tuple) or any(not isinstance(size, int) or size < 0 for size in shape):
            raise TypeError(f"shape must be a sequence of non-negative integers, got {shape!r}")
        self.shape, self.dtype = tuple(shape), to_supported_dtype(dtype)
        # OneFlow's older name of `truncate` is `auto_zero_padding`.
        self.truncate = truncate or auto_zero_padding
        self._count = math.prod(self.shape)
        self._parser = FeatureParser(blob_name)

    def forward(self, records: RecordBatch) -> Tensor:
        """Return the decoded feature of a batch of records: a tensor of shape (batch, *shape)."""
        found = self._parser.parse_values(records)
        if found is None:
            decoded = np.stack([self._decode_record(records, position) for position in range(len(records))])
        else:
            decoded = self._decode_batch(records, *found)
        return as_tensor(decoded.reshape(len(records), *self.shape))

    def _decode_batch(self, records: RecordBatch, kind: str, rows: Ragged) -> NDArray[Any]:
        if kind == "bytes_list":
            rows = Ragged(rows.data.view(np.int8), rows.row_splits)
        counts = np.diff(rows.row_splits)
        wrong = np.flatnonzero(counts != self._count)
        if len(wrong) and not self.truncate and kind != "bytes_list":
            self._raise_value_count_error(int(counts[wrong[0]]), records.locations[wrong[0]])
        return cast_like_c(rows.to_padded(0, self._count) if len(wrong) else rows.data, self.dtype)

    def _decode_record(self, records: RecordBatch, position: int) -> NDArray[Any]:
        kind, found = self._parser.parse_record(records, position)
        if kind == "bytes_list":
            found = np.frombuffer(found, np.int8)
        elif len(found) != self._count and not self.truncate:
            self._raise_value_count_error(len(found), records.locations[position])
        values = np.zeros(self._count, self.dtype)
        used = found[: self._count]
        values[: len(used)] = cast_like_c(used, self.dtype)
        return values

    def _raise_value_count_error(self, found: int, location: Location) -> NoReturn:
        check = f"Check failed: sample_elem_cnt == list.value_size() ({self._count} vs. {found})"
        self._parser.raise_feature_error(location, check, f"{self._count} values", found)


class OFRecordBytesDecoder(Module):
    """``flow.nn.OFRecordBytesDecoder``: return the byte string in one feature of each record."""

    def __init__(self, blob_name: str, name: str | None = None) -> None:
        del name
        self._parser = FeatureParser(blob_name)

    def forward(self, records: RecordBatch) -> TensorBuffer:
        """Return the bytes of the feature as one uint8 array per record."""
        return TensorBuffer(view_strings(self._parser.parse_strings(records)), records.locations)
