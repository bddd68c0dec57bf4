"""Operations that convert strings to numbers and numbers to strings."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dtypes import DType, as_dtype, float32
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.tensor import Tensor
from recordmill.compat.tensorflow.io import raw
from recordmill.compat.tensorflow.ops.composites import elementwise_op
from recordmill.compat.tensorflow.ops.inputs import convert_strings
from recordmill.compat.tensorflow.ops.strings import map_strings

_INTEGER = re.compile(rb"[+-]?[0-9]+")
_REAL = re.compile(rb"[+-]?((\d+\.?\d*|\.\d+)(e[+-]?\d+)?|inf(inity)?|nan)", re.IGNORECASE)
_HEXADECIMAL = re.compile(rb"[+-]?0x([0-9a-f]+\.?[0-9a-f]*|\.[0-9a-f]+)(p[+-]?\d+)?", re.IGNORECASE)
_SPACE = b" \t\n\v\f\r"
_TARGETS = ("float32", "float64", "int32", "int64", "uint32", "uint64")
# Number of digits of the largest uint64. Longer numbers are out of range for every dtype. They are rejected before the
# call of int(), because int() raises ValueError for thousands of digits.
_MAX_DIGITS = 20

# ruff: noqa: A002 (TensorFlow's names)


@elementwise_op("strings.to_number")
def to_number(input: Any, out_type: Any = float32) -> Tensor:
    """``tf.strings.to_number``: convert strings to numbers."""
    dtype = as_dtype(out_type)
    if dtype.name not in _TARGETS:
        raise InvalidArgumentError(f"to_number: out_type must be one of {', '.join(_TARGETS)}, got {dtype.name}")
    array = convert_strings(input, "to_number")
    return Tensor(parse_numbers(array.reshape(-1).tolist(), dtype).reshape(array.shape))


def string_to_number(
    string_tensor: Any = None,
    out_type: Any = float32,
    name: Any = None,
    input: Any = None,
) -> Tensor:
    """``tf.string_to_number`` of TensorFlow 1: convert strings to numbers."""
    del name
    return to_number(string_tensor if input is None else input, out_type)


def decode_raw(
    input_bytes: Any = None,
    out_type: Any = None,
    little_endian: bool = True,
    name: Any = None,
    bytes: Any = None,
) -> Tensor:
    """``tf.decode_raw`` of TensorFlow 1: convert byte strings to numbers."""
    del name
    return raw.decode_raw(input_bytes if bytes is None else bytes, out_type, little_endian)


def parse_numbers(texts: list[bytes], dtype: DType) -> NDArray[Any]:
    """Parse a list of byte strings as an array of numbers; floats may be decimal or hexadecimal."""
    with np.errstate(over="ignore"):
        if dtype.is_floating and all(map(_REAL.fullmatch, texts)):
            return np.array([*map(float, texts)], np.float64).astype(dtype.numpy_dtype)
        return np.array([parse_number(text, dtype) for text in texts], dtype.numpy_dtype)


def parse_number(text: bytes, dtype: DType) -> Any:
    """Parse a byte string as a number; raise InvalidArgumentError for invalid syntax or an integer out of range."""
    value = text.strip(_SPACE)
    if dtype.is_floating:
        if _REAL.fullmatch(value):
            return dtype.as_numpy_dtype(float(value))
        if _HEXADECIMAL.fullmatch(value):
            return dtype.as_numpy_dtype(float.fromhex(value.decode()))
    elif _INTEGER.fullmatch(value):
        digits = value.lstrip(b"+-").lstrip(b"0")
        if len(digits) <= _MAX_DIGITS:
            number = int(digits or b"0") * (-1 if value[:1] == b"-" else 1)
            if dtype.min <= number <= dtype.max:
                return number
    raise InvalidArgumentError(f"{text.decode('utf-8', 'replace')!r} is not a number of dtype {dtype.name}")


@elementwise_op("strings.as_string")
def as_string(
    input: Any,
    precision: int = -1,
    scientific: bool = False,
    shortest: bool = False,
    width: int = -1,
    fill: str = "",
) -> Tensor:
    """``tf.strings.as_string``: format values as C's ``printf`` does."""
    array = array_of(input)
    kind = array.dtype.kind
    if fill not in ("", " ", "0", "+", "-", "#"):
        raise InvalidArgumentError(f"as_string: fill must be '', ' ', '0', '+', '-' or '#', got {fill!r}")
    if scientific and shortest:
        raise InvalidArgumentError("as_string: scientific cannot be combined with shortest")
    if kind != "f" and (scientific or shortest or precision > -1):
        name = as_dtype(array.dtype).name
        raise InvalidArgumentError(f"as_string: precision, scientific and shortest are not supported for dtype {name}")
    letter = {"f": "e" if scientific else "g" if shortest else "f", "i": "d", "u": "d"}.get(kind, "s")
    spec = f"%{fill}{width if width > -1 else ''}{f'.{precision}' if precision > -1 else ''}{letter}"
    if kind == "O":
        return map_strings(array, lambda one: spec.encode() % one)
    words = np.where(array, "true", "false") if kind == "b" else array
    out = np.empty(array.shape, object)
    out.reshape(-1)[:] = [(spec % one).encode() for one in words.reshape(-1).tolist()]
    return Tensor(out)
