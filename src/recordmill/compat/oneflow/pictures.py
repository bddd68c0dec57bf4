"""Decoders of encoded pictures."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

import recordmill as rm
from recordmill.compat.oneflow.faults import placed, unsupported
from recordmill.compat.oneflow.fields import Field
from recordmill.compat.oneflow.module import Module
from recordmill.compat.oneflow.tensors import Place, Records, TensorBuffer
from recordmill.compat.oneflow.types import uint8
from recordmill.compat.oneflow.windows import Window, WindowRule
from recordmill.errors import DecodeError, RecordmillError
from recordmill.types import Ragged

Pixels = NDArray[Any]
_CHANNELS: dict[str, Literal["rgb", "bgr", "grey"]] = {"RGB": "rgb", "BGR": "bgr", "GRAY": "grey"}
_JPEG = b"\xff\xd8"


def channels_of(color_space: str) -> Literal["rgb", "bgr", "grey"]:
    """Our word for OneFlow's name of an order of colours.

    Parameters
    ----------
    color_space : {"RGB", "BGR", "GRAY"}

    Returns
    -------
    str

    Raises
    ------
    ValueError
        Another name; lower case is another one.
    """
    if color_space not in _CHANNELS:
        raise ValueError(f"color_space is one of {', '.join(_CHANNELS)}, not {color_space!r}")
    return _CHANNELS[color_space]


def num_threads() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def decode_all(
    name: str, encoded: Sequence[Any], places: Sequence[Place], channels: Any, orientation: Literal["ignore", "apply"]
) -> TensorBuffer:
    """Pictures of a batch, decoded as OpenCV does.

    Parameters
    ----------
    name : str
        Of the feature, for errors.
    encoded : sequence of buffer
    places : sequence of Place
    channels : {"rgb", "bgr", "grey"}
    orientation : {"ignore", "apply"}
        What becomes of a rotation that EXIF asks for.

    Returns
    -------
    TensorBuffer
        uint8, (height, width, channels).

    Raises
    ------
    DecodeError
        No picture, with part, record and offset.
    """
    spec = rm.Image(like="opencv", channels=channels, orientation=orientation, layout="hwc", stack=False, dtype="uint8")
    try:
        arrays = rm.decode_batch({name: list(encoded)}, {name: spec}, threads=num_threads())[name]
    except DecodeError as error:
        raise placed(error, places[error.position or 0]) from None
    return TensorBuffer(arrays, places)


class OFRecordImageDecoder(Module):
    """Pictures of one feature; a rotation that EXIF asks for is ignored.

    Parameters
    ----------
    blob_name : str
        The feature.
    color_space : {"BGR", "RGB", "GRAY"}
    """

    def __init__(self, blob_name: str, color_space: str = "BGR") -> None:
        self._field, self._channels = Field(blob_name), channels_of(color_space)

    def forward(self, records: Records) -> TensorBuffer:
        """Pictures of a batch, uint8, (height, width, channels)."""
        strings = rows_of(self._field.strings(records))
        return decode_all(self._field.name, strings, records.places, self._channels, "ignore")


class OFRecordImageDecoderRandomCrop(Module):
    """A random window of each picture of one feature; only the window is decoded.

    Parameters
    ----------
    blob_name : str
        The feature.
    color_space : {"BGR", "RGB", "GRAY"}
    num_attempts : int
        Windows that are tried until one fits; then the largest one that is allowed.
    random_seed : int, optional
        Windows repeat for a seed; None for others in each run.
    random_area : (float, float)
        Least and largest part of the picture's area.
    random_aspect_ratio : (float, float)
        Least and largest width for each unit of height.
    """

    def __init__(
        self,
        blob_name: str,
        color_space: str = "BGR",
        num_attempts: int = 10,
        random_seed: int | None = None,
        random_area: Sequence[float] = (0.08, 1.0),
        random_aspect_ratio: Sequence[float] = (0.75, 1.333333),
    ) -> None:
        self._field, self._channels = Field(blob_name), channels_of(color_space)
        self._rule = WindowRule(num_attempts, _pair(random_area), _pair(random_aspect_ratio))
        self._seed = secrets.randbits(63) if random_seed is None else int(random_seed) % 2**64
        self._calls = 0

    def forward(self, records: Records) -> TensorBuffer:
        """Windows of a batch, uint8, (height, width, channels)."""
        strings = rows_of(self._field.strings(records))
        sizes = rm.image_sizes(strings, like="opencv", orientation="ignore")
        sizes[(sizes == 0).any(axis=1)] = 1  # decoding tells what is wrong
        windows = self._rule.windows(sizes, rm.Draws(self._seed, self._calls % 2**32))
        self._calls += 1

        def decode(position: int) -> Pixels:
            try:
                return decode_window(strings[position], windows[position], self._channels)
            except RecordmillError as error:
                raise placed(error, records.places[position]) from None

        return TensorBuffer(in_threads(decode, len(strings)), records.places)


def decode_window(data: Any, window: Window, channels: Literal["rgb", "bgr", "grey"]) -> Pixels:
    """Part of a picture, decoded as OpenCV does; EXIF is ignored.

    Parameters
    ----------
    data : buffer
    window : (int, int, int, int)
        x, y, width and height.
    channels : {"rgb", "bgr", "grey"}

    Returns
    -------
    ndarray of uint8, shape (height, width, channels)
    """
    if bytes(data[:2]) == _JPEG:
        pixels = rm.decode_jpeg(data, window=window, channels="stored")
        if pixels.ndim == 3 and pixels.shape[2] == 3:
            return _coloured(data, pixels, window, channels)
        if pixels.ndim == 2:
            return np.repeat(pixels[:, :, None], 1 if channels == "grey" else 3, axis=2)
    pixels = rm.decode_image(data, like="opencv", window=window, channels=channels, orientation="ignore", depth="8")
    return pixels[:, :, None] if pixels.ndim == 2 else pixels


def _coloured(data: Any, pixels: Pixels, window: Window, channels: str) -> Pixels:
    if channels == "grey":
        return rm.decode_jpeg(data, window=window, channels="grey")[:, :, None]
    return pixels if channels == "rgb" else np.ascontiguousarray(pixels[:, :, ::-1])


def rows_of(strings: Ragged) -> list[Any]:
    """Byte strings as views of their buffer.

    Parameters
    ----------
    strings : Ragged of uint8

    Returns
    -------
    list of ndarray of uint8
    """
    splits = strings.row_splits
    return [strings.data[splits[row] : splits[row + 1]] for row in range(len(strings))]


def in_threads(make: Callable[[int], Pixels], count: int) -> list[Pixels]:
    """Results of a function for 0 … count - 1, in order.

    Parameters
    ----------
    make : callable
    count : int

    Returns
    -------
    list of ndarray
    """
    threads = min(num_threads(), count)
    if threads <= 1:
        return [make(position) for position in range(count)]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(make, range(count)))


def _pair(numbers: Sequence[float]) -> tuple[float, float]:
    first, second = numbers
    return float(first), float(second)


class ImageDecode(Module):
    """Pictures of byte strings, as OpenCV decodes them; rotated as EXIF asks.

    Parameters
    ----------
    dtype : dtype
        uint8.
    color_space : {"BGR", "RGB", "GRAY"}
    """

    def __init__(self, dtype: Any = uint8, color_space: str = "BGR") -> None:
        if dtype != uint8:
            unsupported("dtype", dtype, "pictures are uint8; cast the arrays afterwards")
        self._channels = channels_of(color_space)

    def forward(self, encoded: TensorBuffer) -> TensorBuffer:
        """Pictures of a batch, uint8, (height, width, channels)."""
        return decode_all("images", encoded.numpy(), encoded.places, self._channels, "apply")
