"""``tf.strings``: operations on byte strings, except regular expressions and conversion of numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.hashing import farm
from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.ragged import RaggedTensor
from recordmill.compat.tensorflow.core.sparse import SparseTensor
from recordmill.compat.tensorflow.core.tensor import Tensor, wrap
from recordmill.compat.tensorflow.ops.composites import elementwise_op
from recordmill.compat.tensorflow.ops.inputs import convert_strings, normalize_axes

_CODECS = {"UTF-8": "utf-8", "UTF-16-BE": "utf-16-be", "UTF-32-BE": "utf-32-be"}

# ruff: noqa: A002 (TensorFlow's names)


def map_strings(array: NDArray[Any], function: Callable[[bytes], Any], dtype: Any = object) -> Tensor:
    """Apply a function to each string; return a tensor of the results."""
    out = np.empty(array.shape, dtype)
    flat = out.reshape(-1)
    for position, one in enumerate(array.reshape(-1).tolist()):
        flat[position] = function(one)
    return Tensor(out)


# Maps the name of each operation to the function that it applies to every string.
SIMPLE: dict[str, Callable[[bytes], bytes]] = {"lower": bytes.lower, "strip": bytes.strip, "upper": bytes.upper}


def _define_bytes_operation(name: str, function: Callable[[bytes], bytes]) -> None:
    @elementwise_op(f"strings.{name}")
    def apply_bytes_method(input: Any) -> Tensor:
        return map_strings(convert_strings(input, name), function)

    apply_bytes_method.__name__, apply_bytes_method.__doc__ = (
        name,
        f"``tf.strings.{name}``: apply `bytes.{name}` to each string.",
    )


for _name, _function in SIMPLE.items():
    _define_bytes_operation(_name, _function)


@elementwise_op("strings.length")
def length(input: Any, unit: str = "BYTE") -> Tensor:
    """``tf.strings.length``: return the number of bytes, or of UTF-8 characters, of each string."""
    if unit not in ("BYTE", "UTF8_CHAR"):
        raise InvalidArgumentError(f"length: unit must be 'BYTE' or 'UTF8_CHAR', got {unit!r}")
    array = convert_strings(input, "length")
    return map_strings(array, len if unit == "BYTE" else _count_characters, np.int32)


def _count_characters(value: bytes) -> int:
    return sum(byte & 0xC0 != 0x80 for byte in value)


@elementwise_op("strings.substr")
def substr(input: Any, pos: Any, len: Any, unit: str = "BYTE") -> Tensor:
    """``tf.strings.substr``: return a part of each string; the only supported unit is "BYTE"."""
    if unit != "BYTE":
        raise NotImplementedError(f"substr: unit {unit!r} is not supported: use 'BYTE'")
    array, starts, counts = np.broadcast_arrays(convert_strings(input, "substr"), array_of(pos), array_of(len))
    out = np.empty(array.shape, object)
    for position in np.ndindex(array.shape):
        text, start, count = array[position], int(starts[position]), int(counts[position])
        size = text.__len__()
        if not -size <= start <= size:
            raise InvalidArgumentError(f"substr: position {start} is out of range for a string of {size} bytes")
        start += size if start < 0 else 0
        out[position] = text[start : size if count < 0 else start + count]
    return Tensor(out)


@op("strings.join")
def join(inputs: Any, separator: Any = "") -> Tensor:
    """``tf.strings.join``: join strings of several tensors elementwise."""
    arrays = [convert_strings(one, "join") for one in inputs]
    if not arrays:
        return wrap(b"")
    shape = next((one.shape for one in arrays if one.ndim), ())
    if any(one.ndim and one.shape != shape for one in arrays):
        raise InvalidArgumentError(f"join: inputs must have the same shape, got {[one.shape for one in arrays]}")
    columns = [np.broadcast_to(one, shape).reshape(-1).tolist() for one in arrays]
    out = np.empty(shape, object)
    flat, separator = out.reshape(-1), _to_bytes(separator)
    for position, parts in enumerate(zip(*columns, strict=True)):
        flat[position] = separator.join(parts)
    return Tensor(out)


@op("strings.reduce_join")
def reduce_join(inputs: Any, axis: Any = None, keepdims: bool = False, separator: Any = "") -> Tensor:
    """``tf.strings.reduce_join``: join strings along axes; in a ragged tensor, join the strings of each row."""
    between = _to_bytes(separator)
    if isinstance(inputs, RaggedTensor):
        return _join_ragged_rows(inputs, axis, between)
    array = convert_strings(inputs, "reduce_join")
    # TensorFlow joins along `axis[0]` first. Reverse the axes, so that `axis[0]` varies fastest in a flattened row.
    axes = tuple(range(array.ndim)) if axis is None else normalize_axes(axis, array.ndim, "reduce_join")[::-1]
    kept = [at for at in range(array.ndim) if at not in axes]
    rows = array.transpose([*kept, *axes]).reshape([array.shape[at] for at in kept] + [-1])
    out = np.empty(rows.shape[:-1], object)
    for position in np.ndindex(out.shape):
        out[position] = between.join(rows[position].tolist())
    return Tensor(out.reshape([1 if at in axes else n for at, n in enumerate(array.shape)]) if keepdims else out)


def _join_ragged_rows(ragged: RaggedTensor, axis: Any, separator: bytes) -> Tensor:
    if ragged.ragged_rank != 1 or axis is None or int(axis) not in (-1, 1):
        raise NotImplementedError("reduce_join of a ragged tensor supports only axis=-1 and one ragged axis")
    out = np.empty(len(ragged), object)
    out[:] = [separator.join(row) for row in ragged.to_list()]
    return Tensor(out)


def _to_bytes(value: Any) -> bytes:
    return bytes(array_of(value, "string").item())


def _split_each_string(array: NDArray[Any], function: Callable[[bytes], list[Any]], dtype: Any = object) -> Any:
    """Split each string into a row of a ragged tensor; a scalar string gives a dense vector."""
    rows = [function(one) for one in array.reshape(-1).tolist()]
    values = np.empty(sum(map(len, rows)), dtype)
    values[:] = [one for row in rows for one in row]
    if not array.ndim:
        return Tensor(values)
    ragged: Any = RaggedTensor.from_row_lengths(Tensor(values), np.array([len(row) for row in rows], np.int64))
    for size in reversed(array.shape[1:]):
        ragged = RaggedTensor.from_uniform_row_length(ragged, size)
    return ragged


@elementwise_op("strings.split")
def split(input: Any, sep: Any = None, maxsplit: int = -1) -> Any:
    """``tf.strings.split``: split strings at a separator, or at white space."""
    separator = None if sep is None else _to_bytes(sep) or None
    return _split_each_string(convert_strings(input, "split"), lambda one: one.split(separator, maxsplit))


@elementwise_op("strings.bytes_split")
def bytes_split(input: Any) -> Any:
    """``tf.strings.bytes_split``: split strings into single bytes."""
    return _split_each_string(convert_strings(input, "bytes_split"), _split_into_bytes)


def _split_into_bytes(value: bytes) -> list[bytes]:
    return [value[at : at + 1] for at in range(len(value))]


@elementwise_op("strings.unicode_decode")
def unicode_decode(input: Any, input_encoding: str, errors: str = "replace", replacement_char: int = 65533) -> Any:
    """``tf.strings.unicode_decode``: return the code points of each string."""
    if input_encoding not in _CODECS:
        raise NotImplementedError(f"input_encoding must be one of {', '.join(_CODECS)}, got {input_encoding!r}")
    if errors not in ("replace", "strict", "ignore"):
        raise InvalidArgumentError(f"errors must be 'replace', 'strict' or 'ignore', got {errors!r}")

    def decode_code_points(value: bytes) -> list[int]:
        try:
            text = value.decode(_CODECS[input_encoding], errors)
        except UnicodeDecodeError as error:
            raise InvalidArgumentError(f"unicode_decode: {error}") from None
        points = map(ord, text)
        return [replacement_char if one == 0xFFFD and errors == "replace" else one for one in points]

    return _split_each_string(convert_strings(input, "unicode_decode"), decode_code_points, np.int32)


@elementwise_op("strings.to_hash_bucket_fast")
def to_hash_bucket_fast(input: Any, num_buckets: int) -> Tensor:
    """``tf.strings.to_hash_bucket_fast``: return FarmHash's fingerprint of each string modulo `num_buckets`."""
    array = convert_strings(input, "to_hash_bucket_fast")
    if int(num_buckets) < 1:
        raise InvalidArgumentError(f"num_buckets must be positive, got {int(num_buckets)}")
    hashes = farm.fingerprints(array.reshape(-1).tolist()) % np.uint64(num_buckets)
    return Tensor(hashes.astype(np.int64).reshape(array.shape))


@op("strings.string_split")
def string_split(
    source: Any, sep: Any = None, skip_empty: bool = True, delimiter: Any = None, result_type: str = "SparseTensor"
) -> SparseTensor:
    """``tf.string_split`` of TensorFlow 1: split strings at the delimiter bytes; only sparse results are supported."""
    if result_type != "SparseTensor":
        raise NotImplementedError(f"string_split: result_type {result_type!r} is not supported: use tf.strings.split")
    array = convert_strings(source, "string_split")
    if array.ndim != 1:
        raise ValueError(f"string_split: source must have one axis, got shape {list(array.shape)}")
    marks = _to_bytes(next((one for one in (sep, delimiter) if one is not None), " "))
    rows = [_split_at_bytes(one, marks) for one in array.tolist()]
    rows = [[piece for piece in row if piece] for row in rows] if skip_empty else rows
    indices = [(row, position) for row, pieces in enumerate(rows) for position in range(len(pieces))]
    values = np.empty(len(indices), object)
    values[:] = [piece for pieces in rows for piece in pieces]
    shape = [len(rows), max(map(len, rows), default=0)]
    return SparseTensor(np.array(indices, np.int64).reshape(-1, 2), Tensor(values), np.array(shape, np.int64))


def _split_at_bytes(text: bytes, marks: bytes) -> list[bytes]:
    if not marks:
        return _split_into_bytes(text)
    return text.translate(bytes.maketrans(marks, marks[:1] * len(marks))).split(marks[:1])
