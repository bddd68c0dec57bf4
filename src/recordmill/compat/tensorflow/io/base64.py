"""``tf.io.encode_base64`` and ``decode_base64``: bytes as text that fits into names of files and addresses."""

from __future__ import annotations

import base64
import binascii
from typing import Any

from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.tensor import Tensor
from recordmill.compat.tensorflow.ops.inputs import convert_strings as strings_of
from recordmill.compat.tensorflow.ops.strings import map_strings as each

_ALPHABET = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"


@op("strings.encode_base64")
def encode_base64(input: Any, pad: bool = False) -> Tensor:  # noqa: A002 (TensorFlow's name)
    """Bytes as letters, digits, ``-`` and ``_``."""

    def encoded(one: bytes) -> bytes:
        text = base64.urlsafe_b64encode(one)
        return text if pad else text.rstrip(b"=")

    return each(strings_of(input, "EncodeBase64"), encoded)


@op("strings.decode_base64")
def decode_base64(input: Any) -> Tensor:  # noqa: A002 (TensorFlow's name)
    """Bytes that `encode_base64` made to text, with or without ``=``."""
    return each(strings_of(input, "DecodeBase64"), _decoded)


def _decoded(one: bytes) -> bytes:
    text = one.rstrip(b"=")
    if text.strip(_ALPHABET) or len(text) % 4 == 1:
        raise InvalidArgumentError("Invalid character found in base64. [Op:DecodeBase64]")
    try:
        return base64.urlsafe_b64decode(text + b"=" * (-len(text) % 4))
    except binascii.Error:
        raise InvalidArgumentError("Invalid character found in base64. [Op:DecodeBase64]") from None
