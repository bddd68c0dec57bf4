"""Columns of bytes that are numbers or text."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from recordmill.decode.columns import byte_rows, whole_numbers
from recordmill.decode.specs.raw import Raw
from recordmill.decode.specs.text import Text
from recordmill.decode.state import BatchState
from recordmill.errors import DecodeError, FeatureError
from recordmill.types import Ragged


def decode_raw(state: BatchState, name: str, specs: Mapping[str, Any]) -> dict[str, Any]:
    """Read the numbers of one output."""
    spec = cast("Raw", specs[name])
    feature = spec.feature or name
    column = state.column(feature)
    if spec.stack and _is_regular(column, spec):
        return {name: _at_once(state, name, spec, column)}
    payloads = byte_rows(column, feature)
    lengths = {one: whole_numbers(state.column(one, consume=False), one) for one in spec.shape if isinstance(one, str)}
    rows: list[Any] = [None] * state.count
    for row in state.alive().tolist():
        shape = tuple(lengths[one][row] if isinstance(one, str) else one for one in spec.shape)
        try:
            rows[row] = _array(payloads[row], spec, shape)
        except FeatureError as error:
            state.fail(row, feature, error)
    return {name: _stacked(state, name, spec, rows) if spec.stack else rows}


def _is_regular(column: Any, spec: Raw) -> bool:
    """Whether the bytes of all samples, back to back, are the whole result."""
    if not isinstance(column, Ragged) or not isinstance(column.data, np.ndarray) or column.data.dtype != np.uint8:
        return False
    shape = [one for one in spec.shape if not isinstance(one, str)]
    wanted = math.prod(shape) * np.dtype(spec.dtype).itemsize
    return len(shape) == len(spec.shape) and bool((np.diff(column.row_splits) == wanted).all())


def _at_once(state: BatchState, name: str, spec: Raw, column: Ragged) -> NDArray[Any]:
    shape = cast("tuple[int, ...]", tuple(spec.shape))
    out: NDArray[Any] = state.slots(name, shape, spec.result.name)
    stored = column.data[column.row_splits[0] : column.row_splits[-1]]
    _put(out, np.ascontiguousarray(stored).view(spec.dtype).reshape(out.shape), spec)
    return out


def _put(out: NDArray[Any], stored: NDArray[Any], spec: Raw) -> None:
    """Write numbers as the spec wants them."""
    np.copyto(out, stored, casting="same_kind")
    if spec.scale != 1:
        out *= out.dtype.type(spec.scale)


def _array(data: Any, spec: Raw, shape: tuple[int, ...]) -> NDArray[Any]:
    dtype = spec.dtype
    wanted, found = math.prod(shape) * np.dtype(dtype).itemsize, len(memoryview(data).cast("B"))
    if wanted != found:
        raise FeatureError(
            f"the bytes are not those of {dtype} of shape {shape}",
            kind="feature_mismatch",
            expected=f"{wanted:,} bytes",
            found=f"{found:,}",
        )
    out = np.empty(shape, spec.result)
    _put(out, np.frombuffer(data, dtype).reshape(shape), spec)
    return out


def _stacked(state: BatchState, name: str, spec: Raw, rows: list[Any]) -> NDArray[Any]:
    fixed = tuple(one for one in spec.shape if not isinstance(one, str))
    known = [row for row in state.alive().tolist() if rows[row] is not None]
    shape = rows[known[0]].shape if known else fixed if len(fixed) == len(spec.shape) else (0,) * len(spec.shape)
    for row in known:
        if rows[row].shape != shape:
            raise DecodeError(
                "arrays of one batch have several shapes",
                kind="size_mismatch",
                expected=str(shape),
                found=str(rows[row].shape),
                hint="stack=False gives a list",
                position=row,
                feature=name,
            )
    out: NDArray[Any] = state.slots(name, shape, spec.result.name)
    for row in known:
        out[row] = rows[row]
    return out


def decode_text(state: BatchState, name: str, specs: Mapping[str, Any]) -> dict[str, Any]:
    """Read the text of one output."""
    spec = cast("Text", specs[name])
    feature = spec.feature or name
    column = list(state.column(feature))
    out = np.empty(state.count, object)
    for row in state.alive().tolist():
        try:
            out[row] = _text(column[row], spec)
        except (UnicodeDecodeError, FeatureError) as error:
            state.fail(row, feature, error)
    return {name: out}


def _text(value: Any, spec: Text) -> Any:
    if isinstance(value, Ragged | list):
        return [_text(one, spec) for one in value]
    if isinstance(value, np.ndarray) and value.dtype == np.uint8:
        value = value.tobytes()
    if not isinstance(value, bytes | bytearray | memoryview):
        raise FeatureError("text is made from byte strings", expected="bytes", found=type(value).__name__)
    return bytes(value).decode(spec.encoding, spec.errors)
