"""Strings taken apart: rows of different lengths, so ragged tensors, unless there is one string."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.ragged import RaggedTensor
from recordmill.compat.tensorflow.core.tensor import Tensor
from recordmill.compat.tensorflow.ops.texts import strings_of

_CODECS = {"UTF-8": "utf-8", "UTF-16-BE": "utf-16-be", "UTF-32-BE": "utf-32-be"}


def taken_apart(array: NDArray[Any], cut: Callable[[bytes], list[Any]], dtype: Any = object) -> Any:
    """Cut each string into a row."""
    rows = [cut(one) for one in array.reshape(-1).tolist()]
    values = np.empty(sum(map(len, rows)), dtype)
    values[:] = [one for row in rows for one in row]
    if not array.ndim:
        return Tensor(values)
    found: Any = RaggedTensor.from_row_lengths(Tensor(values), np.array([len(row) for row in rows], np.int64))
    for length in reversed(array.shape[1:]):
        found = RaggedTensor.from_uniform_row_length(found, length)
    return found


@op("strings.split")
def split(input: Any, sep: Any = None, maxsplit: int = -1) -> Any:  # noqa: A002 (TensorFlow's name)
    """Pieces between separators."""
    array = strings_of(input, "StringSplitV2")
    mark = sep.encode() if isinstance(sep, str) else sep
    if isinstance(mark, Tensor):
        mark = mark.numpy()
    return taken_apart(array, lambda one: one.split(mark or None, maxsplit))


@op("strings.bytes_split")
def bytes_split(input: Any) -> Any:  # noqa: A002 (TensorFlow's name)
    """Each byte as a string."""
    array = strings_of(input, "StringSplitBytes")
    return taken_apart(array, lambda one: [one[at : at + 1] for at in range(len(one))])


@op("strings.unicode_split")
def unicode_split(input: Any, input_encoding: str, errors: str = "replace", replacement_char: int = 65533) -> Any:  # noqa: A002
    """Each character as a string of the same encoding."""
    codec = codec_of(input_encoding)
    decoded = decoder(input_encoding, errors, replacement_char)
    array = strings_of(input, "UnicodeDecode")
    return taken_apart(array, lambda one: [letter.encode(codec) for letter in decoded(one)])


@op("strings.unicode_decode")
def unicode_decode(input: Any, input_encoding: str, errors: str = "replace", replacement_char: int = 65533) -> Any:  # noqa: A002
    """Number of each character in Unicode."""
    decoded = decoder(input_encoding, errors, replacement_char)
    array = strings_of(input, "UnicodeDecode")
    return taken_apart(array, lambda one: list(map(ord, decoded(one))), np.int32)


def codec_of(encoding: str) -> str:
    """Python's name of an encoding; NotImplementedError for another."""
    if encoding not in _CODECS:
        raise NotImplementedError(f"the encoding {encoding!r} is not supported, only {', '.join(_CODECS)}")
    return _CODECS[encoding]


def decoder(encoding: str, errors: str, replacement: int, name: str = "UnicodeDecode") -> Callable[[bytes], str]:
    """Find how bytes become text."""
    codec = codec_of(encoding)
    if errors not in ("replace", "strict", "ignore"):
        raise InvalidArgumentError(f"errors must be 'replace', 'strict' or 'ignore', not {errors!r}")

    def decoded(value: bytes) -> str:
        try:
            text = value.decode(codec, errors)
        except UnicodeDecodeError as error:
            raise InvalidArgumentError(f"Invalid formatting on input string [Op:{name}] ({error})") from None
        return text.replace("\ufffd", chr(replacement)) if replacement != 0xFFFD and errors == "replace" else text

    return decoded
