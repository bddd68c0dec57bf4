"""What decoders are given: encoded bytes, of which format they are, and the errors about them."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from recordmill.compat.tensorflow.core import dtypes
from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dtypes import DType, as_dtype
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError, UnimplementedError
from recordmill.errors import RecordmillError

_MAGIC = (
    ("JPEG", b"\xff\xd8\xff"),
    ("PNG", b"\x89PNG\r\n\x1a\n"),
    ("GIF", b"GIF8"),
    ("BMP", b"BM"),
    ("JPEG XL", b"\xff\x0a"),
    ("JPEG XL", b"\x00\x00\x00\x0cJXL \r\n\x87\n"),
)
_KERNEL_NAMES = {"float16": "half", "float32": "float", "float64": "double"}
_UNKNOWN = "Unknown image file format. One of JPEG, JPEG XL, PNG, GIF, BMP, WebP required."


def refuse(message: str, cause: RecordmillError | None = None) -> NoReturn:
    """Raise TensorFlow's error about an argument or a picture."""
    if cause is None:
        raise InvalidArgumentError(message, kind="bad_argument")
    words = (
        cause.message if cause.found is None else f"{cause.message} (expected {cause.expected}, found {cause.found})"
    )
    hint = f"{words}; {cause.hint}" if cause.hint else words
    cls = UnimplementedError if cause.kind == "unsupported" else InvalidArgumentError
    raise cls(message, kind=cause.kind or "bad_image", offset=cause.offset, hint=hint) from cause


def contents_of(contents: Any) -> bytes:
    """Bytes of one picture."""
    array = array_of(contents, dtypes.string)
    if array.ndim:
        refuse(f"`contents` must be scalar but got shape[{','.join(map(str, array.shape))}]")
    return bytes(array[()])


def format_of(data: bytes) -> str:
    """Which format encoded bytes are of."""
    if not data:
        refuse("Input is empty.")
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "WebP"
    name = next((name for name, magic in _MAGIC if data.startswith(magic)), None)
    if name is None:
        refuse(_UNKNOWN)
    if name == "JPEG XL":
        raise UnimplementedError("JPEG XL is not decoded here", kind="unsupported")
    return name


def check_channels(channels: Any) -> int:
    """Check a number of channels."""
    if channels not in (0, 1, 3, 4):
        refuse(f"`channels` must be 0, 1, 3 or 4 but got {channels}")
    return int(channels)


def check_attribute(name: str, value: Any, allowed: tuple[DType, ...]) -> np.dtype[Any]:
    """Check a dtype that an operation is asked for."""
    dtype = as_dtype(value)
    if dtype not in allowed:
        names = ", ".join(kernel_name(one) for one in allowed)
        refuse(f"Value for attr '{name}' of {kernel_name(dtype)} is not in the list of allowed values: {names}")
    return dtype.numpy_dtype


def kernel_name(dtype: DType) -> str:
    """Name of a dtype in the words of TensorFlow's kernels."""
    return _KERNEL_NAMES.get(dtype.name, dtype.name)
