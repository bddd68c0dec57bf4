"""Image decoders with and without random crop. Images are decoded when their pixels are first used.

References
----------
oneflow/user/image/random_crop_generator.cpp of OneFlow 0.9.0 (distribution of crop windows).
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

import recordmill as rm
from recordmill.compat.oneflow.module import Module
from recordmill.compat.oneflow.records import FeatureParser, Location, RecordBatch, copy_with_location
from recordmill.compat.oneflow.tensors import TensorBuffer
from recordmill.concurrency.threads import num_cpus
from recordmill.errors import DecodeError
from recordmill.types import Ragged

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Channels = Literal["rgb", "bgr", "gray"]
_CHANNELS: dict[str, Channels] = {"RGB": "rgb", "BGR": "bgr", "GRAY": "gray"}
# Stage number for `rm.Draws`. Each operation has its own stage number, because operations with the same seed and
# stage number draw the same numbers.
_CROP_STAGE = 20_000


@dataclass(frozen=True, slots=True)
class CropWindowSampler:
    """Draws crop windows within limits of relative area and aspect ratio; tries several random sizes per window."""

    num_attempts: int
    area: tuple[float, float]
    aspect_ratio: tuple[float, float]

    def draw_windows(self, sizes: Ints, draws: rm.Draws) -> Ints:
        """Return one window (x, y, width, height) per image size (height, width)."""
        numbers = draws.uniform(np.arange(len(sizes)), _CROP_STAGE, 2 * self.num_attempts + 2)
        whole = np.ascontiguousarray(sizes[:, ::-1])
        sides = self._draw_crop_sizes(whole, numbers[:, 0:-2:2], numbers[:, 1:-2:2])
        corners = (numbers[:, -2:] * (whole - sides + 1)).astype(np.int64)
        return np.concatenate([corners, sides], axis=1)

    def _draw_crop_sizes(self, whole: Ints, first: Floats, second: Floats) -> Ints:
        """Return one (width, height) per image: the first random size that fits, or else the largest allowed size."""
        low, high = np.log(self.aspect_ratio)
        area = whole.prod(axis=1)[:, None] * (self.area[0] + (self.area[1] - self.area[0]) * first)
        ratio = np.exp(low + (high - low) * second)
        attempts = np.rint(np.sqrt(np.stack([area * ratio, area / ratio], axis=2))).astype(np.int64)
        fits = ((attempts > 0) & (attempts <= whole[:, None])).all(axis=2)
        chosen = attempts[np.arange(len(whole)), fits.argmax(axis=1)]
        return np.asarray(np.where(fits.any(axis=1)[:, None], chosen, self.compute_largest_sizes(whole)))

    def compute_largest_sizes(self, whole: Ints) -> Ints:
        """Return the largest allowed crop size (width, height) of each image.

        The relative area and the aspect ratio of crops are limited. Every computed length is truncated to an integer,
        as in OneFlow.
        """
        width, height = whole.T
        low, high = np.asarray(self.aspect_ratio, np.float32)
        ratio = width.astype(np.float32) / height.astype(np.float32)
        widths = np.where(ratio > high, (height.astype(np.float32) * high).astype(np.int64), width)
        heights = np.where(ratio < low, (width.astype(np.float32) / low).astype(np.int64), height)
        sides = np.maximum(1, np.stack([widths, heights], axis=1))
        max_area = np.float32(self.area[1]) * (width * height).astype(np.float32)
        shrink = np.sqrt(np.minimum(np.float32(1), max_area / sides.prod(axis=1).astype(np.float32)))
        return np.asarray(np.maximum(1, (sides.astype(np.float32) * shrink[:, None]).astype(np.int64)))


@dataclass(frozen=True, eq=False, slots=True)
class EncodedImages:
    """Encoded images of a batch, and for each image the window (x, y, width, height) to decode."""

    feature: str
    strings: Ragged
    windows: Ints
    channels: Channels
    locations: Sequence[Location]

    @property
    def num_channels(self) -> int:
        """Number of values per pixel."""
        return 1 if self.channels == "gray" else 3

    @property
    def shapes(self) -> list[tuple[int, int, int]]:
        """Shape (height, width, channels) of each decoded window."""
        return [(height, width, self.num_channels) for width, height in self.windows[:, 2:].tolist()]

    def decode(
        self,
        size: tuple[int, int] | None = None,
        mirror: NDArray[np.bool_] | None = None,
        empty: Any = np.empty,
        **options: Any,
    ) -> Any:
        """Decode the window of each image, then resize and mirror it, for the whole batch in one native call.

        `options` are parameters of `rm.Image`, such as those that normalize the pixels.
        """
        window_column, mirror_column = f"{self.feature} window", f"{self.feature} mirror"
        columns: dict[str, Any] = {self.feature: self.strings, window_column: self.windows}
        flip = None
        if mirror is not None:
            columns[mirror_column], flip = mirror, rm.GivenFlip(mirror_column)
        spec = rm.Image(
            crop=rm.GivenCrop(window_column, size),
            flip=flip,
            like="opencv",
            channels=self.channels,
            orientation="ignore",
            **options,
        )
        try:
            return rm.decode_batch(columns, {self.feature: spec}, threads=num_cpus(), empty=empty)[self.feature]
        except DecodeError as error:
            raise copy_with_location(error, self.locations[error.position or 0]) from None


class ImageBuffer(TensorBuffer):
    """Images that may differ in size, decoded when their pixels are first used."""

    def __init__(self, encoded: EncodedImages) -> None:
        super().__init__([], encoded.locations)
        self.encoded = encoded

    def numpy(self) -> list[NDArray[Any]]:
        """Return a list of the decoded images: uint8 arrays of shape (height, width, channels)."""
        if not self._arrays:
            self._arrays = self.encoded.decode(dtype="uint8", layout="hwc", stack=False)
        return list(self._arrays)


class OFRecordImageDecoder(Module):
    """``flow.nn.OFRecordImageDecoder``: decode the images in one feature, ignoring EXIF orientations."""

    def __init__(self, blob_name: str, color_space: str = "BGR") -> None:
        if color_space not in _CHANNELS:
            raise ValueError(f"color_space must be one of {', '.join(_CHANNELS)}, got {color_space!r}")
        self._parser, self._channels = FeatureParser(blob_name), _CHANNELS[color_space]

    def forward(self, records: RecordBatch) -> ImageBuffer:
        """Return the images of a batch of records; they are decoded when their pixels are first used."""
        strings = self._parser.parse_strings(records)
        # An invalid image has size 0. Size 1 avoids a division by zero when the windows are chosen.
        # `EncodedImages.decode` raises the error for the invalid image.
        sizes = np.maximum(rm.image_sizes(strings, like="opencv", orientation="ignore"), 1)
        windows = self._choose_crop_windows(sizes)
        return ImageBuffer(EncodedImages(self._parser.name, strings, windows, self._channels, records.locations))

    def _choose_crop_windows(self, sizes: Ints) -> Ints:
        return np.concatenate([np.zeros_like(sizes), sizes[:, ::-1]], axis=1)


class OFRecordImageDecoderRandomCrop(OFRecordImageDecoder):
    """``flow.nn.OFRecordImageDecoderRandomCrop``: decode a random crop of the image in each record."""

    def __init__(
        self,
        blob_name: str,
        color_space: str = "BGR",
        num_attempts: int = 10,
        random_seed: int | None = None,
        random_area: Sequence[float] = (0.08, 1.0),
        random_aspect_ratio: Sequence[float] = (0.75, 1.333333),
    ) -> None:
        super().__init__(blob_name, color_space)
        if num_attempts < 1:
            raise ValueError(f"num_attempts must be a positive integer, got {num_attempts}")
        area = _check_number_pair("random_area", random_area)
        self._rule = CropWindowSampler(
            num_attempts, area, _check_number_pair("random_aspect_ratio", random_aspect_ratio)
        )
        self._seed = secrets.randbits(63) if random_seed is None else int(random_seed) % 2**64
        self._calls = 0

    def _choose_crop_windows(self, sizes: Ints) -> Ints:
        draws = rm.Draws(self._seed, self._calls % 2**32)
        self._calls += 1
        return self._rule.draw_windows(sizes, draws)


def _check_number_pair(option: str, numbers: Any) -> tuple[float, float]:
    if not isinstance(numbers, list | tuple) or len(numbers) != 2 or not 0 < numbers[0] <= numbers[1]:
        raise ValueError(f"{option} must be two numbers with 0 < first <= second, got {numbers!r}")
    return float(numbers[0]), float(numbers[1])
