"""How bytes that are numbers become an array."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from recordmill.decode.specs.base import Spec, check_choice, check_int, check_number


@dataclass(frozen=True, slots=True, repr=False)
class Raw(Spec):
    """The bytes of an array, without a header.

    Parameters
    ----------
    dtype : str or numpy.dtype
        Of the numbers, byte order included: ``"float32"``, ``">i2"``.
    shape : sequence of int or str
        Of one sample; a word names the feature that holds a length, as in ``("height", "width", 3)``.
    stack : bool
        True for one array per batch, False for a list of arrays.
    feature : str, optional
        Where the bytes are; the name of the output by default.
    cast : {"float16", "float32", "float64"}, optional
        What the numbers become; they stay what they are by default.
    scale : float
        What numbers that were cast are multiplied by, as 1 / 255 for levels from 0 to 1.

    Examples
    --------
    >>> Raw("float32", ("height", "width"))
    Raw('float32', shape=('height', 'width'))
    """

    dtype: str
    shape: Sequence[int | str] = ()
    stack: bool = True
    feature: str | None = None
    cast: Literal["float16", "float32", "float64"] | None = None
    scale: float = 1.0

    def __post_init__(self) -> None:
        """Check the options."""
        dtype: np.dtype[Any] = np.dtype(self.dtype)
        if dtype.kind not in "biufc":
            raise TypeError(f"dtype is one of numbers, not {self.dtype!r}")
        if isinstance(self.shape, str):
            raise TypeError(f"shape is a sequence of lengths, not {self.shape!r}")
        shape = tuple(one if isinstance(one, str) else check_int("shape", one, 0, 2**40) for one in self.shape)
        self._check_cast(dtype)
        self._set(dtype=dtype.str if dtype.str[0] == ">" else dtype.name, shape=shape)

    def _check_cast(self, dtype: np.dtype[Any]) -> None:
        self._set(scale=check_number("scale", self.scale))
        if self.cast is None and self.scale != 1:
            raise ValueError(f"scale={self.scale} multiplies numbers that are cast: give cast= too")
        if self.cast is not None:
            check_choice("cast", self.cast, ("float16", "float32", "float64"))
            if dtype.kind == "c":
                raise TypeError(f"complex numbers cannot be cast to {self.cast}")

    @property
    def result(self) -> np.dtype[Any]:
        """Dtype of the arrays, in the byte order of the machine."""
        return np.dtype(self.cast or self.dtype).newbyteorder("=")
