"""Decoders of encoded pictures; pixels are made when they are asked for."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

import recordmill as rm
from recordmill.compat.oneflow.faults import unsupported
from recordmill.compat.oneflow.fields import Field
from recordmill.compat.oneflow.module import Module
from recordmill.compat.oneflow.pending import Encoded, PendingBuffer
from recordmill.compat.oneflow.stepwise import Channels, decode_all, decode_windows, rows_of
from recordmill.compat.oneflow.tensors import Place, Records, TensorBuffer
from recordmill.compat.oneflow.types import uint8
from recordmill.compat.oneflow.windows import WindowRule

Pixels = NDArray[Any]
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

        def step() -> list[Pixels]:
            return decode_all(self._field.name, rows_of(strings), records.places, self._channels, "ignore")

        return _whole(strings, records.places, self._channels, "ignore", step)


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

        def step() -> list[Pixels]:
            return decode_windows(rows_of(strings), places, windows, self._channels)

        return _buffer(Encoded(strings, windows, self._channels, "ignore"), places, step, sizes)


class ImageDecode(Module):
    """Pictures of byte strings, as OpenCV decodes them; rotated as EXIF asks."""

    def __init__(self, dtype: Any = uint8, color_space: str = "BGR") -> None:
        if dtype != uint8:
            unsupported("dtype", dtype, "pictures are uint8; cast the arrays afterwards")
        self._channels = channels_of(color_space)

    def forward(self, encoded: TensorBuffer) -> TensorBuffer:
        """Pictures of a batch, uint8, (height, width, channels)."""
        strings, places = encoded.numpy(), encoded.places

        def step() -> list[Pixels]:
            return decode_all("images", strings, places, self._channels, "apply")

        return _whole(strings, places, self._channels, "apply", step)


def _whole(
    strings: Any,
    places: Sequence[Place],
    channels: Channels,
    orientation: Literal["ignore", "apply"],
    step: Callable[[], list[Pixels]],
) -> TensorBuffer:
    sizes = rm.image_sizes(strings, like="opencv", orientation=orientation)
    windows = np.concatenate([np.zeros_like(sizes), sizes[:, ::-1]], axis=1)
    return _buffer(Encoded(strings, windows, channels, orientation), places, step, sizes)


def _buffer(
    encoded: Encoded, places: Sequence[Place], step: Callable[[], list[Pixels]], sizes: NDArray[np.int64]
) -> TensorBuffer:
    if not sizes.all():
        # What has no size is an error, which the steps tell.
        return TensorBuffer(step(), places)
    return PendingBuffer(encoded, places, step)


def _pair(option: str, numbers: Any) -> tuple[float, float]:
    if not isinstance(numbers, list | tuple) or len(numbers) != 2:
        raise ValueError(f"{option} is two numbers, 0 < first <= second, not {numbers!r}")
    return float(numbers[0]), float(numbers[1])
