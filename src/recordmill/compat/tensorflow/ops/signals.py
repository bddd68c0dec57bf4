"""Sound in pieces and as frequencies: ``tf.signal``'s frames, windows and transforms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.dtypes import as_dtype, float32
from recordmill.compat.tensorflow.core.tensor import Tensor, wrap
from recordmill.compat.tensorflow.ops.matching import as_ints


@op("signal.frame")
def frame(
    signal: Any, frame_length: Any, frame_step: Any, pad_end: bool = False, pad_value: Any = 0, axis: int = -1
) -> Tensor:
    """Pieces of one length along an axis, that may overlap."""
    array, length, step = array_of(signal), int(frame_length), int(frame_step)
    at = axis % array.ndim
    rows = np.moveaxis(array, at, -1)
    total = rows.shape[-1]
    if pad_end:
        count = -(-total // step)
        fill = max(0, length + step * (count - 1) - total)
        rows = np.pad(rows, [(0, 0)] * (rows.ndim - 1) + [(0, fill)], constant_values=pad_value)
    else:
        count = max(0, 1 + (total - length) // step)
    places = np.arange(count)[:, None] * step + np.arange(length)
    return wrap(np.moveaxis(rows[..., places], (-2, -1), (at, at + 1)))


@op("signal.overlap_and_add")
def overlap_and_add(signal: Any, frame_step: Any) -> Tensor:
    """Pieces put together again; where they overlap they are added."""
    array, step = array_of(signal), int(frame_step)
    count, length = array.shape[-2:]
    out = np.zeros((*array.shape[:-2], (count - 1) * step + length), array.dtype)
    for place in range(count):
        out[..., place * step : place * step + length] += array[..., place, :]
    return wrap(out)


def _raised_cosine(length: Any, periodic: bool, dtype: Any, middle: float) -> Tensor:
    count, kind = int(length), as_dtype(dtype).numpy_dtype
    if count == 1:
        return wrap(np.ones(1, kind))
    turn = count + int(periodic and count % 2 == 0) - 1
    waves = np.cos(2 * np.pi * np.arange(count) / turn)
    return wrap((middle - (1 - middle) * waves).astype(kind))


@op("signal.hann_window")
def hann_window(window_length: Any, periodic: bool = True, dtype: Any = float32) -> Tensor:
    """Hann's window; odd lengths are always symmetric, as TensorFlow has them."""
    return _raised_cosine(window_length, periodic, dtype, 0.5)


@op("signal.hamming_window")
def hamming_window(window_length: Any, periodic: bool = True, dtype: Any = float32) -> Tensor:
    """Hamming's window; otherwise as `hann_window`."""
    return _raised_cosine(window_length, periodic, dtype, 0.54)


@op("signal.stft")
def stft(
    signals: Any,
    frame_length: Any,
    frame_step: Any,
    fft_length: Any = None,
    window_fn: Callable[..., Any] | None = hann_window,
    pad_end: bool = False,
) -> Tensor:
    """Frequencies of the pieces of a signal."""
    array, length = array_of(signals), int(frame_length)
    pieces = frame(array, length, frame_step, pad_end).values
    if window_fn is not None:
        pieces = pieces * array_of(window_fn(length, dtype=as_dtype(array.dtype)))
    wide = 1 << max(length - 1, 0).bit_length() if fft_length is None else int(fft_length)
    return wrap(_narrowed(np.fft.rfft(pieces, wide), array.dtype))


def _narrowed(found: NDArray[Any], like: np.dtype[Any]) -> NDArray[Any]:
    """Complex numbers of the width of real, or complex, ones."""
    return found.astype(np.complex64 if like in (np.float32, np.complex64) else np.complex128)


def _length(fft_length: Any) -> int | None:
    return None if fft_length is None else as_ints(fft_length, "T", "RFFT")[0]


@op("signal.rfft")
def rfft(input_tensor: Any, fft_length: Any = None) -> Tensor:
    """Frequencies of real numbers along the last axis; arrays that are no tensors become float32, as in TensorFlow."""
    array = array_of(input_tensor, None if isinstance(input_tensor, Tensor) else float32)
    return wrap(_narrowed(np.fft.rfft(array, _length(fft_length)), array.dtype))


@op("signal.irfft")
def irfft(input_tensor: Any, fft_length: Any = None) -> Tensor:
    """Real numbers of frequencies; the inverse of `rfft`."""
    array = array_of(input_tensor)
    found = np.fft.irfft(array, _length(fft_length))
    return wrap(found.astype(np.float32 if array.dtype == np.complex64 else np.float64))


@op("signal.fft")
def fft(input: Any) -> Tensor:  # noqa: A002 (TensorFlow's name)
    """Frequencies of complex numbers along the last axis."""
    array = array_of(input)
    return wrap(_narrowed(np.fft.fft(array), array.dtype))


@op("signal.ifft")
def ifft(input: Any) -> Tensor:  # noqa: A002 (TensorFlow's name)
    """Complex numbers of frequencies; the inverse of `fft`."""
    array = array_of(input)
    return wrap(_narrowed(np.fft.ifft(array), array.dtype))
