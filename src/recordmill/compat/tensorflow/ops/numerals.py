"""Numbers and strings as one another: ``tf.strings.to_number``, ``as_string`` and ``format``."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.dtypes import as_dtype, float32
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.tensor import Tensor, as_tensor, wrap
from recordmill.compat.tensorflow.ops import told
from recordmill.compat.tensorflow.ops.texts import each, strings_of

_WHOLE = re.compile(rb"[+-]?[0-9]+")
_REAL = re.compile(rb"[+-]?((\d+\.?\d*|\.\d+)(e[+-]?\d+)?|inf(inity)?|nan)", re.IGNORECASE)
_HEXADECIMAL = re.compile(rb"[+-]?0x([0-9a-f]+\.?[0-9a-f]*|\.[0-9a-f]+)(p[+-]?\d+)?", re.IGNORECASE)
_SPACE = rb"[ \t\n\v\f\r]*"
_WHOLES = re.compile(rb"(?:" + _SPACE + rb"[+-]?[0-9]+" + _SPACE + rb"\0)*")
_REALS = re.compile(rb"(?:" + _SPACE + rb"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?" + _SPACE + rb"\0)*")
_LIMITS = {one: (as_dtype(one).min, as_dtype(one).max) for one in ("int32", "int64", "uint32", "uint64")}
# Digits of the largest number; Python refuses to read very many.
_DIGITS = 20
_TARGETS = ("float32", "float64", *_LIMITS)


@op("strings.to_number")
def to_number(input: Any, out_type: Any = float32) -> Tensor:  # noqa: A002 (TensorFlow's name)
    """Read numbers."""
    wanted = as_dtype(out_type)
    if wanted.name not in _TARGETS:
        raise InvalidArgumentError(
            f"Value for attr 'out_type' of {wanted.name} is not in the list of allowed values: "
            "float, double, int32, int64, uint32, uint64 [Op:StringToNumber]"
        )
    array = strings_of(input, "StringToNumber")
    numbers = numbers_of(array.reshape(-1).tolist(), wanted)
    if numbers is not None:
        return Tensor(numbers.reshape(array.shape))
    with np.errstate(over="ignore"):
        return each(array, lambda one: number_of(one, wanted), wanted.numpy_dtype)


def numbers_of(texts: list[bytes], wanted: Any) -> NDArray[Any] | None:
    """Read many numbers that are written in the usual way."""
    column = _REALS if wanted.is_floating else _WHOLES
    if not column.fullmatch(b"\0".join([*texts, b""])):
        return None
    try:
        values = np.array([*map(float, texts)], np.float64) if wanted.is_floating else np.array([*map(int, texts)])
    except (ValueError, OverflowError):
        return None
    if wanted.is_floating or not len(texts):
        with np.errstate(over="ignore"):
            return values.astype(wanted.numpy_dtype)
    low, high = _LIMITS[wanted.name]
    fits = values.dtype.kind in "iu" and low <= values.min() and values.max() <= high
    return values.astype(wanted.numpy_dtype) if fits else None


def number_of(text: bytes, wanted: Any) -> Any:
    """Read one number."""
    value = text.strip(b" \t\n\v\f\r")
    if wanted.is_floating:
        if _REAL.fullmatch(value):
            return wanted.as_numpy_dtype(float(value))
        if _HEXADECIMAL.fullmatch(value):
            return wanted.as_numpy_dtype(float.fromhex(value.decode()))
    elif _WHOLE.fullmatch(value):
        low, high = _LIMITS[wanted.name]
        digits = value.lstrip(b"+-").lstrip(b"0")
        if len(digits) <= _DIGITS and low <= (number := int(digits or b"0") * (-1 if value[:1] == b"-" else 1)) <= high:
            return number
    shown = text.decode("utf-8", "replace")
    raise InvalidArgumentError(f"StringToNumberOp could not correctly convert string: {shown} [Op:StringToNumber]")


@op("strings.as_string")
def as_string(
    input: Any,  # noqa: A002 (TensorFlow's name)
    precision: int = -1,
    scientific: bool = False,
    shortest: bool = False,
    width: int = -1,
    fill: str = "",
) -> Tensor:
    """Write numbers, as C's ``printf`` does."""
    array = array_of(input)
    kind = array.dtype.kind
    if fill not in ("", " ", "0", "+", "-", "#"):
        raise InvalidArgumentError(f'Fill argument not supported: "{fill}" [Op:AsString]')
    if scientific and shortest:
        raise InvalidArgumentError("Cannot select both scientific and shortest notation [Op:AsString]")
    if kind != "f" and (scientific or shortest or precision > -1):
        what = "precision" if precision > -1 else "scientific and shortest"
        raise InvalidArgumentError(f"{what} not supported for datatype {as_dtype(array.dtype).name} [Op:AsString]")
    letter = {"f": "e" if scientific else "g" if shortest else "f", "i": "d", "u": "d"}.get(kind, "s")
    spec = f"%{fill}{width if width > -1 else ''}{f'.{precision}' if precision > -1 else ''}{letter}"
    if kind == "O":
        return each(array, lambda one: spec.encode() % one)
    words = np.where(array, "true", "false") if kind == "b" else array
    out = np.empty(array.shape, object)
    out.reshape(-1)[:] = [(spec % one).encode() for one in words.reshape(-1).tolist()]
    return Tensor(out)


@op("strings.format")
def format(template: str, inputs: Any, placeholder: str = "{}", summarize: int = 3) -> Tensor:  # noqa: A001
    """Put the texts of tensors into a template."""
    tensors = inputs if isinstance(inputs, list | tuple) else [inputs]
    pieces = template.split(placeholder)
    if len(pieces) - 1 != len(tensors):
        raise ValueError(
            f"The template expects {len(pieces) - 1} tensors, but the inputs only has {len(tensors)}. Please ensure "
            "the number of placeholders in template matches inputs length."
        )
    texts = [told.summary(as_tensor(one), summarize) for one in tensors]
    out = pieces[0] + "".join(text + piece for text, piece in zip(texts, pieces[1:], strict=True))
    return wrap(out.encode("utf-8", "surrogateescape"))
