"""Decoders of encoded images; pixels are decoded on first use.

References
----------
oneflow/user/image/random_crop_generator.cpp of OneFlow 0.9.0 (distribution of crop windows).
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

import recordmill as rm
from recordmill.compat.oneflow.dtypes import uint8
from recordmill.compat.oneflow.features import Field, locate_error, raise_unsupported
from recordmill.compat.oneflow.lazy_images import Encoded, LazyBuffer
from recordmill.compat.oneflow.module import Module
from recordmill.compat.oneflow.tensors import Place, Records, TensorBuffer
from recordmill.concurrency.threads import map_range, num_cpus
from recordmill.dataclass import dataclass
from recordmill.errors import DecodeError, RecordmillError
from recordmill.types import Ragged

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
_STAGE = 20_000


@dataclass(frozen=True, slots=True)
class WindowRule:
    """How windows are drawn."""

    num_attempts: int
    area: tuple[float, float]
    aspect_ratio: tuple[float, float]

    def __post_init__(self) -> None:
        """Refuse what no window could satisfy."""
        if self.num_attempts < 1:
            raise ValueError(f"num_attempts is at least 1, not {self.num_attempts}")
        for name in ("area", "aspect_ratio"):
            pair = getattr(self, name)
            if len(pair) != 2 or not 0 < pair[0] <= pair[1]:
                raise ValueError(f"random_{name} is two numbers, 0 < first <= second, not {pair!r}")

    def windows(self, sizes: Ints, draws: rm.Draws) -> Ints:
        """Draw a window for each image."""
        numbers = draws.uniform(np.arange(len(sizes)), _STAGE, 2 * self.num_attempts + 2)
        whole = np.ascontiguousarray(sizes[:, ::-1])
        sides = self._sides(whole, numbers[:, 0:-2:2], numbers[:, 1:-2:2])
        corners = (numbers[:, -2:] * (whole - sides + 1)).astype(np.int64)
        return np.concatenate([corners, sides], axis=1)

    def _sides(self, whole: Ints, first: Floats, second: Floats) -> Ints:
        """Widths and heights: those of the first attempt that fits."""
        low, high = np.log(self.aspect_ratio)
        area = whole.prod(axis=1)[:, None] * (self.area[0] + (self.area[1] - self.area[0]) * first)
        ratio = np.exp(low + (high - low) * second)
        tried = np.rint(np.sqrt(np.stack([area * ratio, area / ratio], axis=2))).astype(np.int64)
        fits = ((tried > 0) & (tried <= whole[:, None])).all(axis=2)
        chosen = tried[np.arange(len(whole)), fits.argmax(axis=1)]
        return np.asarray(np.where(fits.any(axis=1)[:, None], chosen, self._largest(whole)))

    def _largest(self, whole: Ints) -> Ints:
        """Largest windows whose shape and area are allowed; whole sides are cut off as OneFlow's integers are."""
        width, height = whole.T
        low, high = np.asarray(self.aspect_ratio, np.float32)
        ratio = width.astype(np.float32) / height.astype(np.float32)
        widths = np.where(ratio > high, (height.astype(np.float32) * high).astype(np.int64), width)
        heights = np.where(ratio < low, (width.astype(np.float32) / low).astype(np.int64), height)
        sides = np.maximum(1, np.stack([widths, heights], axis=1))
        most = np.float32(self.area[1]) * (width * height).astype(np.float32)
        shrink = np.sqrt(np.minimum(np.float32(1), most / sides.prod(axis=1).astype(np.float32)))
        return np.asarray(np.maximum(1, (sides.astype(np.float32) * shrink[:, None]).astype(np.int64)))


Pixels = NDArray[Any]
Channels = Literal["rgb", "bgr", "grey"]
_JPEG = b"\xff\xd8"


def decode_all(
    name: str, encoded: Sequence[Any], places: Sequence[Place], channels: Channels, orientation: Any
) -> list[Pixels]:
    """Pictures of a batch, decoded as OpenCV does."""
    spec = rm.Image(like="opencv", channels=channels, orientation=orientation, layout="hwc", stack=False, dtype="uint8")
    try:
        found: list[Pixels] = rm.decode_batch({name: list(encoded)}, {name: spec}, threads=num_cpus())[name]
    except DecodeError as error:
        raise locate_error(error, places[error.position or 0]) from None
    return found


def decode_windows(
    encoded: Sequence[Any], places: Sequence[Place], windows: NDArray[np.int64], channels: Channels
) -> list[Pixels]:
    """Parts of the pictures of a batch; EXIF is ignored."""

    def decode(position: int) -> Pixels:
        try:
            return _decode_window(encoded[position], tuple(windows[position].tolist()), channels)
        except RecordmillError as error:
            raise locate_error(error, places[position]) from None

    return map_range(decode, len(encoded))


def _decode_window(data: Any, window: Any, channels: Channels) -> Pixels:
    if bytes(data[:2]) == _JPEG:
        pixels = rm.decode_jpeg(data, window=window, channels="stored")
        if pixels.ndim == 3 and pixels.shape[2] == 3:
            return _coloured(data, pixels, window, channels)
        if pixels.ndim == 2:
            return np.repeat(pixels[:, :, None], 1 if channels == "grey" else 3, axis=2)
    pixels = rm.decode_image(data, like="opencv", window=window, channels=channels, orientation="ignore", depth="8")
    return pixels[:, :, None] if pixels.ndim == 2 else pixels


def _coloured(data: Any, pixels: Pixels, window: Any, channels: str) -> Pixels:
    if channels == "grey":
        return rm.decode_jpeg(data, window=window, channels="grey")[:, :, None]
    return pixels if channels == "rgb" else np.ascontiguousarray(pixels[..., ::-1])


def split_rows(strings: Ragged) -> list[Any]:
    """Byte strings as views of their buffer."""
    splits = strings.row_splits
    return [strings.data[splits[row] : splits[row + 1]] for row in range(len(strings))]


_CHANNELS: dict[str, Channels] = {"RGB": "rgb", "BGR": "bgr", "GRAY": "grey"}


def channels_of(color_space: str) -> Channels:
    """Our word for OneFlow's name of an order of colours."""
    if color_space not in _CHANNELS:
        raise ValueError(f"color_space is one of {', '.join(_CHANNELS)}, not {color_space!r}")
    return _CHANNELS[color_space]


class OFRecordImageDecoder(Module):
    """Pictures of one feature; a rotation that EXIF asks for is ignored."""

    def __init__(self, blob_name: str, color_space: str = "BGR") -> None:
        self._field, self._channels = Field(blob_name), channels_of(color_space)

    def forward(self, records: Records) -> TensorBuffer:
        """Pictures of a batch, uint8, (height, width, channels)."""
        strings = self._field.strings(records)

        def decode_stepwise() -> list[Pixels]:
            return decode_all(self._field.name, split_rows(strings), records.places, self._channels, "ignore")

        return _whole(strings, records.places, self._channels, "ignore", decode_stepwise)


class OFRecordImageDecoderRandomCrop(Module):
    """A random window of each picture of one feature; only the window is decoded."""

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
        self._rule = WindowRule(
            num_attempts, _pair("random_area", random_area), _pair("random_aspect_ratio", random_aspect_ratio)
        )
        self._seed = secrets.randbits(63) if random_seed is None else int(random_seed) % 2**64
        self._calls = 0

    def forward(self, records: Records) -> TensorBuffer:
        """Windows of a batch, uint8, (height, width, channels)."""
        strings, places = self._field.strings(records), records.places
        sizes = rm.image_sizes(strings, like="opencv", orientation="ignore")
        windows = self._rule.windows(np.maximum(sizes, 1), rm.Draws(self._seed, self._calls % 2**32))
        self._calls += 1

        def decode_stepwise() -> list[Pixels]:
            return decode_windows(split_rows(strings), places, windows, self._channels)

        return _buffer(Encoded(strings, windows, self._channels, "ignore"), places, decode_stepwise, sizes)


class ImageDecode(Module):
    """Pictures of byte strings, as OpenCV decodes them; rotated as EXIF asks."""

    def __init__(self, dtype: Any = uint8, color_space: str = "BGR") -> None:
        if dtype != uint8:
            raise_unsupported("dtype", dtype, "pictures are uint8; cast the arrays afterwards")
        self._channels = channels_of(color_space)

    def forward(self, encoded: TensorBuffer) -> TensorBuffer:
        """Pictures of a batch, uint8, (height, width, channels)."""
        strings, places = encoded.numpy(), encoded.places

        def decode_stepwise() -> list[Pixels]:
            return decode_all("images", strings, places, self._channels, "apply")

        return _whole(strings, places, self._channels, "apply", decode_stepwise)


def _whole(
    strings: Any,
    places: Sequence[Place],
    channels: Channels,
    orientation: Literal["ignore", "apply"],
    decode_stepwise: Callable[[], list[Pixels]],
) -> TensorBuffer:
    sizes = rm.image_sizes(strings, like="opencv", orientation=orientation)
    windows = np.concatenate([np.zeros_like(sizes), sizes[:, ::-1]], axis=1)
    return _buffer(Encoded(strings, windows, channels, orientation), places, decode_stepwise, sizes)


def _buffer(
    encoded: Encoded, places: Sequence[Place], decode_stepwise: Callable[[], list[Pixels]], sizes: NDArray[np.int64]
) -> TensorBuffer:
    if not sizes.all():
        # What has no size is an error, which the steps tell.
        return TensorBuffer(decode_stepwise(), places)
    return LazyBuffer(encoded, places, decode_stepwise)


def _pair(option: str, numbers: Any) -> tuple[float, float]:
    if not isinstance(numbers, list | tuple) or len(numbers) != 2:
        raise ValueError(f"{option} is two numbers, 0 < first <= second, not {numbers!r}")
    return float(numbers[0]), float(numbers[1])
