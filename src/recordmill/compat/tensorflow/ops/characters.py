"""Characters of Unicode put together, put into another encoding, and with their places."""

from __future__ import annotations

from typing import Any

import numpy as np

from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.ragged import RaggedTensor
from recordmill.compat.tensorflow.core.tensor import Tensor
from recordmill.compat.tensorflow.ops.pieces import codec_of, decoder, taken_apart
from recordmill.compat.tensorflow.ops.texts import each, strings_of

_LAST = 0x10FFFF
_SURROGATES = range(0xD800, 0xE000)


@op("strings.unicode_encode")
def unicode_encode(input: Any, output_encoding: str, errors: str = "replace", replacement_char: int = 65533) -> Any:  # noqa: A002
    """Strings of the characters whose numbers stand along the last axis."""
    codec = codec_of(output_encoding)

    def text(row: list[int]) -> bytes:
        return "".join(_letter(one, errors, replacement_char) for one in row).encode(codec)

    if isinstance(input, RaggedTensor):
        if isinstance(input.values, RaggedTensor):
            inner = unicode_encode(input.values, output_encoding, errors, replacement_char)
            return input.with_values(inner)
        return _strings([text(row) for row in input.to_list()], (len(input),))
    array = array_of(input, None if isinstance(input, Tensor) else "int32")
    if not array.ndim:
        raise ValueError("input_tensor's rank must be at least 1.")
    count = int(np.prod(array.shape[:-1]))
    return _strings([text(row) for row in array.reshape(count, array.shape[-1]).tolist()], array.shape[:-1])


def _strings(rows: list[bytes], shape: tuple[int, ...]) -> Tensor:
    out = np.empty(len(rows), object)
    out[:] = rows
    return Tensor(out.reshape(shape))


def _letter(number: int, errors: str, replacement: int) -> str:
    if 0 <= number <= _LAST and number not in _SURROGATES:
        return chr(number)
    if errors == "strict":
        raise InvalidArgumentError("Code point is out of range for Unicode, or is a surrogate. [Op:UnicodeEncode]")
    return "" if errors == "ignore" else chr(replacement)


@op("strings.unicode_transcode")
def unicode_transcode(
    input: Any,  # noqa: A002 (TensorFlow's name)
    input_encoding: str,
    output_encoding: str,
    errors: str = "replace",
    replacement_char: int = 65533,
    replace_control_characters: bool = False,
) -> Tensor:
    """Strings in another encoding; control characters may be replaced, too."""
    codec = codec_of(output_encoding)
    decoded = decoder(input_encoding, errors, replacement_char, "UnicodeTranscode")
    stand_in = "" if errors == "ignore" else chr(replacement_char)

    def text(one: bytes) -> bytes:
        letters = decoded(one)
        if replace_control_characters:
            letters = "".join(stand_in if ord(letter) < 0x20 else letter for letter in letters)
        return letters.encode(codec)

    return each(strings_of(input, "UnicodeTranscode"), text)


@op("strings.unicode_decode_with_offsets")
def unicode_decode_with_offsets(
    input: Any,  # noqa: A002 (TensorFlow's name)
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = 65533,
) -> tuple[Any, Any]:
    """Number of each character, and its place in bytes."""
    decoded = decoder(input_encoding, errors, replacement_char)
    array = strings_of(input, "UnicodeDecodeWithOffsets")
    numbers = taken_apart(array, lambda one: list(map(ord, decoded(one))), np.int32)
    return numbers, _offsets(array, decoded, input_encoding)


@op("strings.unicode_split_with_offsets")
def unicode_split_with_offsets(
    input: Any,  # noqa: A002 (TensorFlow's name)
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = 65533,
) -> tuple[Any, Any]:
    """Each character as a string of the encoding, and its place in bytes."""
    decoded, codec = decoder(input_encoding, errors, replacement_char), codec_of(input_encoding)
    array = strings_of(input, "UnicodeDecodeWithOffsets")
    letters = taken_apart(array, lambda one: [letter.encode(codec) for letter in decoded(one)])
    return letters, _offsets(array, decoded, input_encoding)


def _offsets(array: Any, decoded: Any, encoding: str) -> Any:
    codec = codec_of(encoding)

    def places(one: bytes) -> list[int]:
        letters = decoded(one)
        lengths = [len(letter.encode(codec)) for letter in letters]
        if sum(lengths) != len(one):
            raise NotImplementedError(
                f"places of characters in {one!r}, which is not {encoding}, are not supported: mend it with "
                "tf.strings.unicode_transcode first"
            )
        return [0, *np.cumsum(lengths).tolist()[:-1]] if lengths else []

    return taken_apart(array, places, np.int64)
