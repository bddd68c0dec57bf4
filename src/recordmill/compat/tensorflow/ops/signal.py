"""``tf.signal``: short-time Fourier transforms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.dtypes import as_dtype, float32
from recordmill.compat.tensorflow.core.tensor import Tensor, wrap


@op("signal.hann_window")
def hann_window(window_length: Any, periodic: bool = True, dtype: Any = float32) -> Tensor:
    """``tf.signal.hann_window``: return a Hann window; windows of odd length are always symmetric, as in TensorFlow."""
    count, numpy_dtype = int(window_length), as_dtype(dtype).numpy_dtype
    if count == 1:
        return wrap(np.ones(1, numpy_dtype))
    period = count if periodic and count % 2 == 0 else count - 1
    return wrap((0.5 - 0.5 * np.cos(2 * np.pi * np.arange(count) / period)).astype(numpy_dtype))


@op("signal.stft")
def stft(
    signals: Any,
    frame_length: Any,
    frame_step: Any,
    fft_length: Any = None,
    window_fn: Callable[..., Any] | None = hann_window,
    pad_end: bool = False,
) -> Tensor:
    """``tf.signal.stft``: compute the short-time Fourier transform along the last axis."""
    array, length, step = array_of(signals), int(frame_length), int(frame_step)
    size = array.shape[-1]
    count = -(-size // step) if pad_end else max(0, 1 + (size - length) // step)
    missing = max(0, length + step * (count - 1) - size)
    padded = np.pad(array, [(0, 0)] * (array.ndim - 1) + [(0, missing)])
    frames = padded[..., np.arange(count)[:, None] * step + np.arange(length)]
    if window_fn is not None:
        frames = frames * array_of(window_fn(length, dtype=as_dtype(array.dtype)))
    points = 1 << max(length - 1, 0).bit_length() if fft_length is None else int(fft_length)
    return wrap(np.fft.rfft(frames, points), np.complex64 if array.dtype == np.float32 else np.complex128)
