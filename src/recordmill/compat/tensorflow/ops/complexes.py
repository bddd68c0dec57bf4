"""Complex numbers, as transforms of sound give them: made of two tensors, and taken apart."""

from __future__ import annotations

from typing import Any

import numpy as np

from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.tensor import Tensor, wrap
from recordmill.compat.tensorflow.ops.matching import matched


@op("math.complex")
def complex(real: Any, imag: Any) -> Tensor:  # noqa: A001 (TensorFlow's name)
    """Complex numbers of their two parts; TypeError for parts that are no float32 or float64."""
    first, second = matched((real, imag), "Complex")
    if first.dtype.char not in "fd":
        raise TypeError(f"real and imag have incorrect types: {first.dtype.name} {second.dtype.name}")
    return wrap(first + second * np.asarray(1j, np.complex64 if first.dtype.char == "f" else np.complex128))


@op("math.real")
def real(input: Any) -> Tensor:  # noqa: A002 (TensorFlow's name)
    """Real parts."""
    return wrap(np.real(array_of(input)))


@op("math.imag")
def imag(input: Any) -> Tensor:  # noqa: A002 (TensorFlow's name)
    """Imaginary parts; 0 of real numbers."""
    return wrap(np.imag(array_of(input)))


@op("math.conj")
def conj(x: Any) -> Tensor:
    """Numbers with the other sign of their imaginary parts."""
    return wrap(np.conj(array_of(x)))


@op("math.angle")
def angle(input: Any) -> Tensor:  # noqa: A002 (TensorFlow's name)
    """Angles, in radians."""
    array = array_of(input)
    return wrap(np.angle(array).astype(array.real.dtype))
