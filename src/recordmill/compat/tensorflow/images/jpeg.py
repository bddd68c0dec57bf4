"""JPEG to pixels: TensorFlow's options in the library's words."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

import recordmill as rm
from recordmill.compat.tensorflow.core.errors import UnimplementedError
from recordmill.compat.tensorflow.images.contents import refuse
from recordmill.dataclass import dataclass
from recordmill.errors import ImageError, MissingExtraError, RecordmillError

_MODES: dict[str, Literal["fast", "accurate"]] = {"": "fast", "INTEGER_FAST": "fast", "INTEGER_ACCURATE": "accurate"}
_CHANNELS: dict[int, Literal["stored", "grey", "rgb"]] = {0: "stored", 1: "grey", 3: "rgb"}
_END = b"\xff\xd9"
# Markers of frames that are decoded here, and of segments with a length that may be before them (ITU T.81, table B.1).
_FRAMES = (0xC0, 0xC1, 0xC2)
_SCAN = 0xDA
_BEFORE = (0xC4, 0xDB, 0xDD, 0xFE, *range(0xE0, 0xF0))
_FAILED = "jpeg::Uncompress failed. Invalid JPEG data or crop window."


@dataclass(frozen=True, slots=True)
class JpegOptions:
    """How JPEG is decoded, in TensorFlow's words."""

    ratio: int = 1
    fancy_upscaling: bool = True
    try_recover_truncated: bool = False
    acceptable_fraction: float = 1.0
    dct_method: str = ""

    def __post_init__(self) -> None:
        """Refuse what TensorFlow refuses."""
        if self.ratio not in (1, 2, 4, 8):
            refuse(f"ratio must be 1, 2, 4, or 8, got {self.ratio}")
        if self.dct_method not in _MODES:
            refuse("dct_method must be one of {'', 'INTEGER_FAST', 'INTEGER_ACCURATE'}")


def jpeg_pixels(
    data: bytes, channels: int, options: JpegOptions, window: tuple[int, int, int, int] | None = None
) -> NDArray[np.uint8]:
    """Decode a JPEG."""
    if channels not in _CHANNELS:
        refuse(f"JPEG does not support {channels} channels")
    try:
        pixels = _decoded(data, _CHANNELS[channels], options, window)
    except MissingExtraError:
        raise
    except RecordmillError as error:
        if options.try_recover_truncated and error.kind == "unsupported" and isinstance(error.__cause__, ImageError):
            message = "try_recover_truncated is not supported for such a JPEG"
            raise UnimplementedError(message, kind="unsupported", hint=str(error)) from error
        refuse(_FAILED, error)
    return pixels[:, :, None] if pixels.ndim == 2 else pixels


def _decoded(
    data: bytes, channels: Any, options: JpegOptions, window: tuple[int, int, int, int] | None
) -> NDArray[np.uint8]:
    # Of a file without an end marker TensorFlow takes what libjpeg takes.
    is_cut = data.rfind(_END) < 0
    fraction = min(max(float(options.acceptable_fraction), 0.0), 1.0)
    enough = fraction if fraction < 1 or is_cut else None

    def decode(mode: Literal["fast", "accurate"]) -> NDArray[np.uint8]:
        upsampling: Literal["fancy", "plain"] = "fancy" if options.fancy_upscaling else "plain"
        scale: Any = options.ratio
        return rm.decode_jpeg(
            data,
            window=window,
            channels=channels,
            mode=mode,
            upsampling=upsampling,
            scale=scale,
            cmyk="tensorflow",
            recover_truncated=bool(options.try_recover_truncated),
            acceptable_fraction=enough,
        )

    try:
        return decode(_MODES[options.dct_method])
    except RecordmillError as error:
        if error.kind != "unsupported":
            raise
        # Pillow, to which this file is left, does not always miss the marker.
        if is_cut and not options.try_recover_truncated:
            refuse(_FAILED)
        # Pillow has no fast transform: is the file sound?
        pixels = decode("accurate")
        if options.dct_method == "INTEGER_FAST":
            raise
        return pixels


def window_of(numbers: Sequence[int]) -> tuple[int, int, int, int]:
    """Window by the library's order."""
    if len(numbers) != 4:
        refuse(f"crop_size must have four elements [{len(numbers)}]")
    y, x, height, width = (int(number) for number in numbers)
    if min(x, y) < 0 or min(width, height) < 1:
        refuse(_FAILED)
    return x, y, width, height


def jpeg_shape(data: bytes) -> tuple[int, int, int]:
    """Height, width and components that a JPEG's header tells."""
    bad = f"Invalid JPEG data, size {len(data)}"
    if data[:2] != b"\xff\xd8":
        refuse(bad)
    told = _frame(data)
    if told is not None and rm.image_sizes([data]).tolist() == [[*told[:2]]]:
        return told
    try:
        corner = rm.decode_jpeg(data, channels="stored", window=(0, 0, 1, 1))
    except MissingExtraError:
        raise
    except RecordmillError as error:
        refuse(bad, error)
    [(height, width)] = rm.image_sizes([data]).tolist()
    return height, width, 1 if corner.ndim == 2 else corner.shape[2]


def _frame(data: bytes) -> tuple[int, int, int] | None:
    """Height, width and components that the only frame header tells; None of a header with anything unusual."""
    at, found = 2, None
    while data[at : at + 1] == b"\xff" and at + 4 <= len(data):
        marker, length = struct.unpack_from(">BH", data, at + 1)
        if marker == _SCAN:
            return found
        if marker in _FRAMES and found is None and at + length < len(data):
            found = _told(data[at + 4 : at + 2 + length])
        elif marker not in _BEFORE:
            return None
        at += 2 + length
    return None


def _told(frame: bytes) -> tuple[int, int, int] | None:
    if len(frame) < 6 or len(frame) != 6 + 3 * frame[5]:
        return None
    _, height, width, components = struct.unpack_from(">BHHB", frame)
    factors = [factor for both in frame[7::3] for factor in divmod(both, 16)]
    return (height, width, components) if all(1 <= factor <= 4 for factor in factors) else None
