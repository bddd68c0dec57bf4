"""Decode columns of bytes that contain arrays of numbers, or text."""

from __future__ import annotations

import math
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from recordmill.decode.columns import convert_to_byte_rows, read_lengths
from recordmill.decode.specs.raw import Raw
from recordmill.decode.specs.text import Text
from recordmill.decode.state import BatchState
from recordmill.errors import DecodeError, FeatureError
from recordmill.types import Ragged


def decode_raw_column(state: BatchState, name: str, spec: Raw) -> dict[str, Any]:
    """Read the arrays of one `Raw` spec from a column of bytes."""
    feature = spec.feature or name
    column = state.column(feature)
    if spec.stack and _has_equal_rows(column, spec):
        return {name: _copy_whole_column(state, name, spec, column)}
    payloads = convert_to_byte_rows(column, feature)
    lengths = {side: read_lengths(state.column(side, consume=False), side) for side in spec.shape if type(side) is str}
    rows: list[Any] = [None] * state.count
    for row in state.valid_rows().tolist():
        shape = tuple(lengths[side][row] if isinstance(side, str) else side for side in spec.shape)
        try:
            rows[row] = _read_array(payloads[row], spec, shape)
        except FeatureError as error:
            state.store_error(row, feature, error)
    return {name: _stack_arrays(state, name, spec, rows) if spec.stack else rows}


def _has_equal_rows(column: Any, spec: Raw) -> bool:
    """Return True if `spec` has a fixed shape and every row has the number of bytes of that shape."""
    if not isinstance(column, Ragged) or not isinstance(column.data, np.ndarray) or column.data.dtype != np.uint8:
        return False
    shape = [side for side in spec.shape if not isinstance(side, str)]
    num_bytes = math.prod(shape) * np.dtype(spec.dtype).itemsize
    return len(shape) == len(spec.shape) and bool((np.diff(column.row_splits) == num_bytes).all())


def _copy_whole_column(state: BatchState, name: str, spec: Raw, column: Ragged) -> NDArray[Any]:
    shape = cast("tuple[int, ...]", tuple(spec.shape))
    out: NDArray[Any] = state.allocate_output(name, shape, spec.output_dtype.name)
    stored = column.data[column.row_splits[0] : column.row_splits[-1]]
    _cast_into_output(out, np.ascontiguousarray(stored).view(spec.dtype).reshape(out.shape), spec)
    return out


def _cast_into_output(out: NDArray[Any], stored: NDArray[Any], spec: Raw) -> None:
    np.copyto(out, stored, casting="same_kind")
    if spec.scale != 1:
        out *= out.dtype.type(spec.scale)


def _read_array(data: Any, spec: Raw, shape: tuple[int, ...]) -> NDArray[Any]:
    dtype = spec.dtype
    expected, found = math.prod(shape) * np.dtype(dtype).itemsize, len(memoryview(data).cast("B"))
    if expected != found:
        raise FeatureError(
            f"the number of bytes does not match an array of {dtype} of shape {shape}",
            kind="feature_mismatch",
            expected=f"{expected:,} bytes",
            found=f"{found:,}",
        )
    out = np.empty(shape, spec.output_dtype)
    _cast_into_output(out, np.frombuffer(data, dtype).reshape(shape), spec)
    return out


def _stack_arrays(state: BatchState, name: str, spec: Raw, rows: list[Any]) -> NDArray[Any]:
    fixed = tuple(side for side in spec.shape if not isinstance(side, str))
    valid = [row for row in state.valid_rows().tolist() if rows[row] is not None]
    shape = rows[valid[0]].shape if valid else fixed if len(fixed) == len(spec.shape) else (0,) * len(spec.shape)
    for row in valid:
        if rows[row].shape != shape:
            raise DecodeError(
                "arrays of a batch must have the same shape",
                kind="size_mismatch",
                expected=str(shape),
                found=str(rows[row].shape),
                hint="set stack=False to get a list of arrays",
                position=row,
                feature=name,
            )
    out: NDArray[Any] = state.allocate_output(name, shape, spec.output_dtype.name)
    for row in valid:
        out[row] = rows[row]
    return out


def decode_text_column(state: BatchState, name: str, spec: Text) -> dict[str, Any]:
    """Decode the column of strings of one `Text` spec."""
    feature = spec.feature or name
    column = list(state.column(feature))
    out = np.empty(state.count, object)
    for row in state.valid_rows().tolist():
        try:
            out[row] = _decode_text(column[row], spec)
        except (UnicodeDecodeError, FeatureError) as error:
            state.store_error(row, feature, error)
    return {name: out}


def _decode_text(value: Any, spec: Text) -> Any:
    if isinstance(value, Ragged | list):
        return [_decode_text(element, spec) for element in value]
    if isinstance(value, np.ndarray) and value.dtype == np.uint8:
        value = value.tobytes()
    if not isinstance(value, bytes | bytearray | memoryview):
        raise FeatureError("Text requires byte strings", expected="bytes", found=type(value).__name__)
    return bytes(value).decode(spec.encoding, spec.errors)
