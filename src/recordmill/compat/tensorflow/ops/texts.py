"""Strings of a tensor changed, measured and joined: ``tf.strings``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.dtypes import as_dtype
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.tensor import Tensor, wrap
from recordmill.compat.tensorflow.ops.matching import as_ints, bracketed, told
from recordmill.compat.tensorflow.ops.reducing import axes_of

_UNITS = ("BYTE", "UTF8_CHAR")


def strings_of(value: Any, name: str) -> NDArray[Any]:
    """Make the array of an input that has to hold strings."""
    if not isinstance(value, Tensor):
        return array_of(value, "string")
    if value.values.dtype.kind != "O":
        raise InvalidArgumentError(
            f"cannot compute {name} as input #0(zero-based) was expected to be a string tensor but is a "
            f"{told(value.dtype)} tensor [Op:{name}]"
        )
    return value.values


def each(array: NDArray[Any], compute: Callable[[bytes], Any], dtype: Any = object) -> Tensor:
    """Call a function on each string."""
    out = np.empty(array.shape, dtype)
    flat = out.reshape(-1)
    for place, one in enumerate(array.reshape(-1).tolist()):
        flat[place] = compute(one)
    return Tensor(out)


def _encoding(encoding: str, name: str) -> None:
    if encoding not in ("", "utf-8"):
        raise InvalidArgumentError(f"only utf-8 or '' (no encoding) is supported, received {encoding} [Op:{name}]")


@op("strings.lower")
def lower(input: Any, encoding: str = "") -> Tensor:  # noqa: A002 (TensorFlow's name)
    """Small letters: those of ASCII, or with ``encoding="utf-8"`` all of them."""
    _encoding(encoding, "StringLower")
    array = strings_of(input, "StringLower")
    return each(array, (lambda one: _text(one).lower().encode()) if encoding else bytes.lower)


@op("strings.upper")
def upper(input: Any, encoding: str = "") -> Tensor:  # noqa: A002 (TensorFlow's name)
    """Capital letters: those of ASCII, or with ``encoding="utf-8"`` all of them."""
    _encoding(encoding, "StringUpper")
    array = strings_of(input, "StringUpper")
    return each(array, (lambda one: _text(one).upper().encode()) if encoding else bytes.upper)


def _text(value: bytes) -> str:
    return value.decode("utf-8", "replace")


@op("strings.strip")
def strip(input: Any) -> Tensor:  # noqa: A002 (TensorFlow's name)
    """Strings without white space at their ends."""
    return each(strings_of(input, "StringStrip"), bytes.strip)


@op("strings.length")
def length(input: Any, unit: str = "BYTE") -> Tensor:  # noqa: A002 (TensorFlow's name)
    """Number of bytes, or of characters of UTF-8."""
    _unit(unit, "StringLength")
    array = strings_of(input, "StringLength")
    return each(array, len if unit == "BYTE" else lambda one: len(_characters(one)), np.int32)


def _unit(unit: str, name: str) -> None:
    if unit not in _UNITS:
        raise InvalidArgumentError(
            f'Value for attr \'unit\' of "{unit}" is not in the list of allowed values: "BYTE", "UTF8_CHAR" [Op:{name}]'
        )


def _characters(value: bytes) -> bytes | list[bytes]:
    """Pieces that begin at each byte which does not continue a character; of plain ASCII, the string itself."""
    if value.isascii():
        return value
    starts = [at for at, byte in enumerate(value) if byte & 0xC0 != 0x80]
    if value and (not starts or starts[0]):
        starts.insert(0, 0)
    return [value[start:end] for start, end in zip(starts, [*starts[1:], len(value)], strict=True)]


@op("strings.substr")
def substr(input: Any, pos: Any, len: Any, unit: str = "BYTE") -> Tensor:  # noqa: A002 (TensorFlow's names)
    """Part of each string."""
    _unit(unit, "Substr")
    array = strings_of(input, "Substr")
    if unit == "BYTE" and (parts := _cut(array, array_of(pos), array_of(len))) is not None:
        return Tensor(parts)
    array, starts, counts = np.broadcast_arrays(array, array_of(pos), array_of(len))
    out = np.empty(array.shape, object)
    for place in np.ndindex(array.shape):
        whole: Any = array[place]
        pieces: Any = whole if unit == "BYTE" else _characters(whole)
        start, count, total = int(starts[place]), int(counts[place]), pieces.__len__()
        if not -total <= start <= total:
            raise InvalidArgumentError(
                f"pos {start} out of range for string b'{_text(whole)}' at index {place[0] if place else 0} [Op:Substr]"
            )
        start += total if start < 0 else 0
        part = pieces[start : total if count < 0 else start + count]
        out[place] = part if isinstance(part, bytes) else b"".join(part)
    return Tensor(out)


def _cut(array: NDArray[Any], start: NDArray[Any], count: NDArray[Any]) -> NDArray[Any] | None:
    """The same bytes of each string; None where that is not what is asked for, or a string is too short."""
    if start.size != 1 or count.size != 1 or start.ndim > array.ndim or count.ndim > array.ndim:
        return None
    strings, first, length = array.reshape(-1).tolist(), int(start.item()), int(count.item())
    if any(one.__len__() < abs(first) for one in strings):
        return None
    last = None if length < 0 or first < 0 <= first + length else first + length
    out = np.empty(array.shape, object)
    out.reshape(-1)[:] = [one[first:last] for one in strings]
    return out


@op("strings.join")
def join(inputs: Any, separator: Any = "") -> Tensor:
    """Strings of several tensors of one shape, or without axes, put together."""
    arrays = [strings_of(one, "StringJoin") for one in inputs]
    between = separator.encode() if isinstance(separator, str) else separator
    if not arrays:
        return wrap(b"")
    shape = next((one.shape for one in arrays if one.ndim), ())
    for one in arrays:
        if one.ndim and one.shape != shape:
            raise InvalidArgumentError(
                f"Input shapes do not match: {bracketed(shape)} vs. {bracketed(one.shape)} [Op:StringJoin]"
            )
    columns = [np.broadcast_to(one, shape).reshape(-1).tolist() for one in arrays]
    out = np.empty(shape, object)
    flat = out.reshape(-1)
    for place, parts in enumerate(zip(*columns, strict=True)):
        flat[place] = between.join(parts)
    return Tensor(out)


@op("strings.reduce_join")
def reduce_join(inputs: Any, axis: Any = None, keepdims: bool = False, separator: Any = "") -> Tensor:
    """Strings along axes put together."""
    array = strings_of(inputs, "ReduceJoin")
    # The first axis that is named is joined first.
    axes = tuple(range(array.ndim)) if axis is None else axes_of(axis, array.ndim, "ReduceJoin")[::-1]
    between = separator.encode() if isinstance(separator, str) else separator
    kept = [at for at in range(array.ndim) if at not in axes]
    rows = array.transpose([*kept, *axes]).reshape([array.shape[at] for at in kept] + [-1])
    out = np.empty(rows.shape[:-1], object)
    for place in np.ndindex(out.shape):
        out[place] = between.join(rows[place].tolist())
    shape = [1 if at in axes else n for at, n in enumerate(array.shape)]
    return Tensor(out.reshape(shape) if keepdims else out)


@op("strings.unsorted_segment_join")
def unsorted_segment_join(inputs: Any, segment_ids: Any, num_segments: Any, separator: Any = "") -> Tensor:
    """Strings of each segment put together."""
    array, ids = strings_of(inputs, "UnsortedSegmentJoin").reshape(-1), as_ints(segment_ids, "Tindices", "Segment")
    between = separator.encode() if isinstance(separator, str) else separator
    pieces: list[list[bytes]] = [[] for _ in range(int(num_segments))]
    for one, segment in zip(array.tolist(), ids, strict=True):
        pieces[segment].append(one)
    return Tensor(array_of([between.join(one) for one in pieces], as_dtype("string")))
