"""Frequencies as ears tell them apart: mel bands, cosine transforms, and coefficients of both."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.dtypes import as_dtype, float32
from recordmill.compat.tensorflow.core.tensor import Tensor, wrap
from recordmill.compat.tensorflow.ops.matching import FLOATS, one_of

_BREAK_HERTZ, _HIGH_Q = 700.0, 1127.0


@op("signal.linear_to_mel_weight_matrix")
def linear_to_mel_weight_matrix(
    num_mel_bins: Any = 20,
    num_spectrogram_bins: Any = 129,
    sample_rate: Any = 8000,
    lower_edge_hertz: Any = 125.0,
    upper_edge_hertz: Any = 3800.0,
    dtype: Any = float32,
) -> Tensor:
    """Weights with which frequencies are put together to mel bands."""
    bands, bins, rate = int(num_mel_bins), int(num_spectrogram_bins), float(sample_rate)
    low, high = float(lower_edge_hertz), float(upper_edge_hertz)
    if bands <= 0 or bins <= 0 or rate <= 0 or not 0 <= low < high <= rate / 2:
        raise ValueError(
            f"no mel bands of num_mel_bins={bands}, sample_rate={rate} and edges of {low} and {high} Hz, which lie "
            "between 0 and half the rate"
        )
    kind = as_dtype(dtype).numpy_dtype
    mels = _mel(np.linspace(0, rate / 2, bins)[1:, None].astype(kind))
    edges = np.linspace(_mel(np.array(low)), _mel(np.array(high)), bands + 2).astype(kind)
    rising = (mels - edges[:-2]) / (edges[1:-1] - edges[:-2])
    falling = (edges[2:] - mels) / (edges[2:] - edges[1:-1])
    weights = np.maximum(0, np.minimum(rising, falling))
    return wrap(np.concatenate([np.zeros((1, bands)), weights]), kind)


def _mel(hertz: NDArray[Any]) -> NDArray[Any]:
    return np.asarray(_HIGH_Q * np.log1p(hertz / _BREAK_HERTZ))


@op("signal.dct")
def dct(input: Any, type: int = 2, n: Any = None, axis: int = -1, norm: str | None = None) -> Tensor:  # noqa: A002
    """Cosine transform of the second type along the last axis."""
    if type != 2 or n is not None or axis != -1:
        raise NotImplementedError(f"tf.signal.dct(type={type}, n={n}, axis={axis}) is not supported: use scipy.fft")
    array = one_of(input, FLOATS, "RFFT")
    count = array.shape[-1]
    places = np.arange(count)
    table = 2 * np.cos(np.pi * (2 * places[:, None] + 1) * places / (2 * count))
    if norm == "ortho":
        table *= np.where(places == 0, np.sqrt(0.25 / count), np.sqrt(0.5 / count))
    return wrap(array.astype(np.float64) @ table, array.dtype)


@op("signal.idct")
def idct(input: Any, type: int = 2, n: Any = None, axis: int = -1, norm: str | None = None) -> Tensor:  # noqa: A002
    """Inverse of a type-II cosine transform; unscaled without `norm`, as in TensorFlow."""
    if type != 2 or n is not None or axis != -1:
        raise NotImplementedError(f"tf.signal.idct(type={type}, n={n}, axis={axis}) is not supported: use scipy.fft")
    array = one_of(input, FLOATS, "RFFT")
    count = array.shape[-1]
    places = np.arange(count)
    table = 2 * np.cos(np.pi * places[:, None] * (2 * places + 1) / (2 * count))
    table[0] = 1
    if norm == "ortho":
        table *= np.where(places == 0, np.sqrt(1 / count), np.sqrt(0.5 / count))[:, None]
    return wrap(array.astype(np.float64) @ table, array.dtype)


@op("signal.mfccs_from_log_mel_spectrograms")
def mfccs_from_log_mel_spectrograms(log_mel_spectrograms: Any) -> Tensor:
    """Cepstral coefficients of the logarithms of mel bands, along the last axis."""
    array = one_of(log_mel_spectrograms, FLOATS, "RFFT")
    return wrap(dct(array).values / np.sqrt(array.dtype.type(2 * array.shape[-1])), array.dtype)
