"""Sound back from its frequencies, transforms over several axes, and further windows: ``tf.signal``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.dtypes import as_dtype, float32
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.tensor import Tensor, wrap
from recordmill.compat.tensorflow.ops.matching import COMPLEX, FLOATS, allow, as_ints
from recordmill.compat.tensorflow.ops.signals import hann_window, overlap_and_add


@op("signal.inverse_stft")
def inverse_stft(
    stfts: Any,
    frame_length: Any,
    frame_step: Any,
    fft_length: Any = None,
    window_fn: Callable[..., Any] | None = hann_window,
) -> Tensor:
    """Signal of the frequencies of its pieces, which are weighted and put together."""
    array, length = _complex(stfts, "IRFFT"), int(array_of(frame_length))
    wide = 1 << max(length - 1, 0).bit_length() if fft_length is None else int(array_of(fft_length))
    real = np.dtype(np.float32 if array.dtype == np.complex64 else np.float64)
    pieces = np.fft.irfft(array, wide).astype(real)[..., :length]
    pieces = np.pad(pieces, [(0, 0)] * (pieces.ndim - 1) + [(0, length - pieces.shape[-1])])
    if window_fn is not None:
        pieces = pieces * array_of(window_fn(length, dtype=as_dtype(real)))
    whole: Tensor = overlap_and_add(Tensor(pieces), frame_step)
    return whole


def inverse_stft_window_fn(
    frame_step: Any, forward_window_fn: Callable[..., Any] = hann_window, name: str | None = None
) -> Callable[..., Tensor]:
    """Make the window with which `inverse_stft` gives back what `stft` took."""
    del name
    step = int(array_of(frame_step))

    def inverse_window(frame_length: Any, dtype: Any = float32) -> Tensor:
        window = array_of(forward_window_fn(frame_length, dtype=dtype))
        lacking = -len(window) % step
        sums = np.pad(np.square(window), (0, lacking)).reshape(-1, step).sum(axis=0)
        return wrap(window / np.tile(sums, (len(window) + lacking) // step)[: len(window)])

    return inverse_window


def _complex(value: Any, name: str) -> NDArray[Any]:
    array = array_of(value)
    allow(array, COMPLEX, name, "Tcomplex")
    return array


def _over_axes(compute: Callable[..., NDArray[Any]], value: Any, name: str, axes: int) -> Tensor:
    array = _complex(value, name)
    if array.ndim < axes:
        raise InvalidArgumentError(f"Input must have rank of at least {axes} but got: {array.shape} [Op:{name}]")
    return wrap(compute(array, axes=tuple(range(-axes, 0))).astype(array.dtype))


@op("signal.fft2d")
def fft2d(input: Any) -> Tensor:  # noqa: A002 (TensorFlow's name)
    """Frequencies of complex numbers along the last two axes."""
    return _over_axes(np.fft.fftn, input, "FFT2D", 2)


@op("signal.ifft2d")
def ifft2d(input: Any) -> Tensor:  # noqa: A002 (TensorFlow's name)
    """Complex numbers of frequencies; the inverse of `fft2d`."""
    return _over_axes(np.fft.ifftn, input, "IFFT2D", 2)


@op("signal.fft3d")
def fft3d(input: Any) -> Tensor:  # noqa: A002 (TensorFlow's name)
    """Frequencies of complex numbers along the last three axes."""
    return _over_axes(np.fft.fftn, input, "FFT3D", 3)


@op("signal.ifft3d")
def ifft3d(input: Any) -> Tensor:  # noqa: A002 (TensorFlow's name)
    """Complex numbers of frequencies; the inverse of `fft3d`."""
    return _over_axes(np.fft.ifftn, input, "IFFT3D", 3)


@op("signal.rfft2d")
def rfft2d(input_tensor: Any, fft_length: Any = None) -> Tensor:
    """Frequencies of real numbers along the last two axes; arrays that are no tensors become float32."""
    array = array_of(input_tensor, None if isinstance(input_tensor, Tensor) else float32)
    allow(array, FLOATS[1:], "RFFT2D", "Treal")
    lengths = None if fft_length is None else as_ints(fft_length, "T", "RFFT2D")
    found = np.fft.rfftn(array, lengths, axes=(-2, -1))
    return wrap(found.astype(np.complex64 if array.dtype == np.float32 else np.complex128))


@op("signal.irfft2d")
def irfft2d(input_tensor: Any, fft_length: Any = None) -> Tensor:
    """Real numbers of frequencies; the inverse of `rfft2d`."""
    array = _complex(input_tensor, "IRFFT2D")
    lengths = None if fft_length is None else as_ints(fft_length, "T", "IRFFT2D")
    found = np.fft.irfftn(array, lengths, axes=(-2, -1))
    return wrap(found.astype(np.float32 if array.dtype == np.complex64 else np.float64))


@op("signal.fftshift")
def fftshift(x: Any, axes: Any = None) -> Tensor:
    """Frequency 0 in the middle of axes; of all of them unless some are given."""
    return wrap(np.fft.fftshift(array_of(x), None if axes is None else as_ints(axes, "T", "Roll")))


@op("signal.ifftshift")
def ifftshift(x: Any, axes: Any = None) -> Tensor:
    """Frequency 0 at the beginning of axes again; the inverse of `fftshift`."""
    return wrap(np.fft.ifftshift(array_of(x), None if axes is None else as_ints(axes, "T", "Roll")))


@op("signal.kaiser_window")
def kaiser_window(window_length: Any, beta: Any = 12.0, dtype: Any = float32) -> Tensor:
    """Kaiser's window."""
    kind = as_dtype(dtype).numpy_dtype
    return wrap(np.kaiser(int(array_of(window_length)), float(array_of(beta))).astype(kind))


@op("signal.vorbis_window")
def vorbis_window(window_length: Any, dtype: Any = float32) -> Tensor:
    """Vorbis's window, whose squares add up to 1 where halves overlap."""
    length = int(array_of(window_length))
    waves = np.sin(np.pi / length * (np.arange(length) + 0.5))
    return wrap(np.sin(np.pi / 2 * np.square(waves)).astype(as_dtype(dtype).numpy_dtype))
