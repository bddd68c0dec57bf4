"""``tf.audio``: sound in WAV files of 16 bits (RIFF, IBM and Microsoft: Multimedia Programming Interface, 1991)."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.tensor import Tensor

_PCM, _BYTES = 1, 2
# Levels from silence to the loudest one.
_LEVELS = np.float32(1 << 15)
_HEADER = struct.Struct("<4sI4s4sIHHIIHH4sI")


class DecodeWav(NamedTuple):
    """Sound, and how many samples of it a second has."""

    audio: Tensor
    sample_rate: Tensor


@op("audio.decode_wav")
def decode_wav(contents: Any, desired_channels: int = -1, desired_samples: int = -1) -> DecodeWav:
    """Sound of a WAV file."""
    given = array_of(contents)
    if given.ndim:
        _refuse(f"contents must be scalar, got shape {list(given.shape)}")
    samples, rate = _read(bytes(given[()]))
    if desired_channels >= 0:
        kept = np.minimum(np.arange(desired_channels), samples.shape[1] - 1)
        samples = samples[:, kept]
    if desired_samples >= 0:
        whole = np.zeros((desired_samples, samples.shape[1]), samples.dtype)
        whole[: len(samples)] = samples[:desired_samples]
        samples = whole
    return DecodeWav(Tensor(samples.astype(np.float32) / _LEVELS), Tensor(np.array(rate, np.int32)))


def _read(data: bytes) -> tuple[NDArray[np.int16], int]:
    """Samples, shape (samples, channels), and their rate."""
    _expect(data, 0, b"RIFF")
    _expect(data, 8, b"WAVE")
    _expect(data, 12, b"fmt ")
    channels, rate, start = _format(data)
    parts = list(_data_chunks(data, start, _BYTES * channels))
    if not parts:
        _refuse("No data chunk found in WAV")
    if len(parts) > 1:
        _refuse("More than one data chunk found in WAV")
    count = len(parts[0]) // (_BYTES * channels)
    return np.frombuffer(parts[0], "<i2", count * channels).reshape(count, channels), rate


def _expect(data: bytes, offset: int, name: bytes) -> None:
    found = _slice(data, offset, 4)
    if found != name:
        told = found.decode("latin-1")
        _refuse(f"Header mismatch: Expected {name.decode()} but found {told}")


def _slice(data: bytes, offset: int, length: int) -> bytes:
    if offset + length > len(data):
        _refuse("Data too short when trying to read string")
    return data[offset : offset + length]


def _format(data: bytes) -> tuple[int, int, int]:
    """Channels, rate, and where the next chunk begins."""
    size = int.from_bytes(_slice(data, 16, 4), "little")
    if size not in (16, 18):
        _refuse(f"Bad format chunk size for WAV: Expected 16 or 18, but got{size}")
    kind, channels, rate, a_second, a_sample, bits = struct.unpack("<HHIIHH", _slice(data, 20, size)[:16])
    if kind != _PCM:
        _refuse(f"Bad audio format for WAV: Expected 1 (PCM), but got{kind}")
    if channels < 1:
        _refuse("Bad number of channels for WAV: Expected at least 1, but got 0")
    if bits != 8 * _BYTES:
        _refuse(f"Can only read 16-bit WAV files, but received {bits}")
    if a_sample != _BYTES * channels:
        _refuse(f"Bad bytes per sample in WAV header: Expected {_BYTES * channels} but got {a_sample}")
    if a_second != a_sample * rate:
        place = f"(sample_rate={rate}, bytes_per_sample={a_sample})"
        _refuse(f"Bad bytes per second in WAV header: Expected {a_sample * rate} but got {a_second} {place}")
    return channels, rate, 20 + size


def _data_chunks(data: bytes, start: int, a_sample: int) -> Iterator[bytes]:
    """Sound; no byte fills up what is behind an odd length or part of a sample, as TensorFlow reads it."""
    while start < len(data):
        name, length = _slice(data, start, 4), int.from_bytes(_slice(data, start + 4, 4), "little")
        if name == b"data":
            length -= length % a_sample
            yield _slice(data, start + 8, length)
        start += 8 + length


@op("audio.encode_wav")
def encode_wav(audio: Any, sample_rate: Any) -> Tensor:
    """WAV file of sound."""
    values, rate = array_of(audio, "float32"), array_of(sample_rate, "int32")
    if values.ndim != 2:
        _refuse(f"audio must be 2-dimensional[{','.join(map(str, values.shape))}]")
    if rate.ndim:
        _refuse(f"Input sample_rate should be a scalar tensor, got {list(rate.shape)} instead.")
    count, channels = values.shape
    if rate <= 0:
        _refuse(f"sample_rate must be in (0, 2^32), got: {int(rate)}")
    if not 0 < channels < 1 << 16:
        _refuse(f"num_channels must be in (0, 2^16), got: {channels}")
    length, a_sample = count * channels * _BYTES, channels * _BYTES
    form = (16, _PCM, channels, int(rate), int(rate) * a_sample, a_sample, 8 * _BYTES)
    header = _HEADER.pack(b"RIFF", 36 + length, b"WAVE", b"fmt ", *form, b"data", length)
    return Tensor(np.array(header + _levels(values).tobytes(), object))


def _levels(values: NDArray[np.float32]) -> NDArray[np.int16]:
    """Nearest levels, halves away from zero; what is no number is silence."""
    scaled = np.nan_to_num(values) * _LEVELS
    rounded = np.copysign(np.floor(np.abs(scaled) + np.float32(0.5)), scaled)
    levels: NDArray[np.int16] = np.clip(rounded, -(1 << 15), (1 << 15) - 1).astype("<i2")
    return levels


def _refuse(message: str) -> NoReturn:
    raise InvalidArgumentError(message)
