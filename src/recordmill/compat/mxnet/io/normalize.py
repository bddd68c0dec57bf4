"""Convert pixels to the numbers of a batch: mean, mean image, standard deviation and scale as MXNet rounds them."""

from __future__ import annotations

import os
import secrets
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import recordmill as rm
from recordmill.compat.mxnet.base import ParameterError
from recordmill.compat.mxnet.io.parameters import has_light
from recordmill.compat.mxnet.io.random import Generator

Floats = NDArray[np.float32]
Flags = NDArray[np.bool_]
# A file of arrays: magic number, reserved, number of arrays; arrays; names.
_LIST_HEADER = struct.pack("<QQQ", 0x112, 0, 1)
_NAME = struct.pack("<QQ", 1, 8) + b"mean_img"
# Versions of an array's header.
_VERSION_1, _VERSION_2, _DENSE = 0xF993FAC8, 0xF993FAC9, 0
# Device and its number in front of the dtype, 0 for float32.
_CONTEXT_BYTES, _DTYPE_BYTES = 8, 4
_CPU_FLOAT32 = struct.pack("<iii", 1, 0, 0)


class Normalizer:
    """Conversion of uint8 pixels to the dtype of the batch.

    float32 values are ``(pixel - mean) * (scale / std)``, where mean and factor are rounded to float32 first; uint8
    values are the pixels; int8 values are ``pixel - mean`` with the mean rounded and the result clipped.
    """

    def __init__(self, values: Mapping[str, Any], mean_image: Floats | None = None) -> None:
        colors = "rgba"[: values["data_shape"][0]]
        self.dtype = np.dtype(values["dtype"] or "float32")
        self._means = [float(values[f"mean_{color}"]) for color in colors]
        self._stds = [float(values[f"std_{color}"]) for color in colors]
        self._scale = float(values["scale"])
        self._has_light = has_light(values)
        self._mean = np.array(self._means, np.float32)[:, None, None]
        self._std = np.array(self._stds, np.float32)
        self._mean_image = mean_image
        self.options = self._native_options()

    def _native_options(self) -> dict[str, Any]:
        """Return options of `rm.Image`: normalization if it rounds as MXNet does, else uint8 pixels."""
        pixels = {"dtype": "uint8"}
        white = 255 * self._scale
        is_plain = self.dtype == np.float32 and not self._has_light and self._mean_image is None
        if not is_plain or not 1e-6 <= white <= 1e6:
            return pixels
        means = [mean * white / 255 for mean in self._means]
        native_means = np.array([mean * (255 / white) for mean in means], np.float32)
        native_factor = np.float32(white / 255) / self._std
        if (native_means != self._mean[:, 0, 0]).any() or (native_factor != np.float32(self._scale) / self._std).any():
            return pixels
        return {"dtype": "float32", "mean": means, "std": self._stds, "white": white}

    def convert_image(self, pixels: NDArray[np.uint8]) -> NDArray[Any]:
        """Convert one image (height, width, channels) as a native call with `options` does."""
        if self.options["dtype"] == "uint8":
            return pixels.transpose(2, 0, 1)
        return rm.normalize(pixels, **self.options, layout="chw")

    def finish(self, batch: NDArray[Any], mirrored: Flags, lights: Floats | None = None) -> NDArray[Any]:
        """Convert a batch (n, channels, height, width) that was made with `options` to its final values."""
        if self.dtype == np.uint8 or batch.dtype == np.float32:
            return batch
        means: Floats = self._mean
        if self._mean_image is not None:
            means = np.where(mirrored[:, None, None, None], self._mean_image[:, :, ::-1], self._mean_image)
        if self.dtype == np.int8:
            rounded = np.copysign(np.floor(np.abs(means) + np.float32(0.5)), means)
            differences = batch.astype(np.int16) - rounded.astype(np.int16)
            return np.clip(differences, -128, 127).astype(np.int8)
        batch = batch.astype(np.float32)
        batch -= means
        if lights is None:
            batch *= (np.float32(self._scale) / self._std)[:, None, None]
        else:
            batch *= (lights[:, :1] / self._std)[:, :, None, None]
            batch += (lights[:, 1:] / self._std)[:, :, None, None]
        return batch


def draw_light(values: Mapping[str, Any], generator: Generator) -> Floats:
    """Return the random factor and offset of one image."""
    units = np.array([[generator.uniform(), generator.uniform()]], np.float32)
    light: Floats = scale_light(units, values)[0]
    return light


def scale_light(units: Floats, values: Mapping[str, Any]) -> Floats:
    """Map numbers in [0, 1), shape (n, 2), to factors and offsets of the normalized values."""
    limits = np.array([values["max_random_contrast"], values["max_random_illumination"]], np.float32)
    lights = units * limits * np.float32(2) - limits
    lights[:, 0] += np.float32(1)
    scaled: Floats = lights * np.float32(values["scale"])
    return scaled


def load_mean_image(path: str, shape: tuple[int, ...], batches: Callable[[], Iterable[NDArray[Any]]]) -> Floats:
    """Return the mean image of a file, which is first computed and written if it does not exist."""
    if not os.path.exists(path):
        _write(path, _compute_mean(shape, batches()))
    data = Path(path).read_bytes()
    for header in _headers(shape):
        start = len(header) + _CONTEXT_BYTES + _DTYPE_BYTES
        is_float32 = data[start - _DTYPE_BYTES : start] == bytes(_DTYPE_BYTES)
        size = 4 * int(np.prod(shape))
        if data.startswith(header) and is_float32 and len(data) >= start + size:
            return np.frombuffer(data[start : start + size], "<f4").astype(np.float32).reshape(shape)
    expected = f"one float32 array of shape {shape}"
    raise ParameterError("Invalid mean image file format", kind="bad_shape", shard=path, expected=expected)


def _headers(shape: tuple[int, ...]) -> Iterator[bytes]:
    """Yield the bytes in front of the device, in all versions of the format, the current one first."""
    count = len(shape)
    yield _LIST_HEADER + struct.pack(f"<Iii{count}q", _VERSION_2, _DENSE, count, *shape)
    yield _LIST_HEADER + struct.pack(f"<Ii{count}q", _VERSION_1, count, *shape)
    yield _LIST_HEADER + struct.pack(f"<I{count}I", count, *shape)


def _write(path: str, mean: Floats) -> None:
    temporary = f"{path}.tmp-{secrets.token_hex(6)}"
    try:
        Path(temporary).write_bytes(next(_headers(mean.shape)) + _CPU_FLOAT32 + mean.astype("<f4").tobytes() + _NAME)
        os.replace(temporary, path)
    finally:
        Path(temporary).unlink(missing_ok=True)


def _compute_mean(shape: tuple[int, ...], batches: Iterable[NDArray[Any]]) -> Floats:
    """Sum images in float32 one after another, as MXNet does, and multiply by one over their number."""
    total, count = np.zeros(shape, np.float32), 0
    for batch in batches:
        for image in batch:
            total += image
        count += len(batch)
    mean: Floats = total * (np.float32(1) / np.float32(count))
    return mean
