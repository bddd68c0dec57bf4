"""The `Raw` spec: dtype and shape of arrays that are stored as raw bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from recordmill.decode.specs.base import Spec, check_choice, check_int, check_number
from recordmill.suggestions import suggest_constructor_arguments


@suggest_constructor_arguments
@dataclass(frozen=True, slots=True, repr=False)
class Raw(Spec):
    """Read an array from raw bytes, which have no header; the spec gives the dtype and shape.

    Parameters
    ----------
    dtype : str or numpy.dtype
        Numeric dtype of the stored values, including the byte order: ``"float32"``, ``">i2"``.
    shape : sequence of int or str
        Shape of one sample. A string is the name of a feature that contains that length, as in
        ``("height", "width", 3)``.
    stack : bool
        True for one array per batch, False for a list of arrays.
    feature : str, optional
        Name of the feature that contains the bytes; by default the name of the output.
    cast : str, optional
        Dtype of the output; by default the stored dtype. One of "float16", "float32" or "float64".
    scale : float
        Factor applied after `cast`, for example 1 / 255 to convert 8-bit levels to the range 0 to 1.

    Examples
    --------
    >>> rm.Raw("float32", ("height", "width"))
    Raw('float32', shape=('height', 'width'))
    """

    dtype: str
    shape: Sequence[int | str] = ()
    stack: bool = True
    feature: str | None = None
    cast: Literal["float16", "float32", "float64"] | None = None
    scale: float = 1.0

    def __post_init__(self) -> None:
        """Check the options, and convert them to their canonical form."""
        dtype: np.dtype[Any] = np.dtype(self.dtype)
        if dtype.kind not in "biufc":
            raise TypeError(f"dtype must be numeric, got {self.dtype!r}")
        if isinstance(self.shape, str):
            raise TypeError(f"shape must be a sequence of lengths, got {self.shape!r}")
        shape = tuple(one if isinstance(one, str) else check_int("shape", one, 0, 2**40) for one in self.shape)
        self._check_cast(dtype)
        self._set_fields(dtype=dtype.str if dtype.str[0] == ">" else dtype.name, shape=shape)

    def _check_cast(self, dtype: np.dtype[Any]) -> None:
        self._set_fields(scale=check_number("scale", self.scale))
        if self.cast is None and self.scale != 1:
            raise ValueError(f"scale requires cast=..., got scale={self.scale} and cast=None")
        if self.cast is not None:
            check_choice("cast", self.cast, ("float16", "float32", "float64"))
            if dtype.kind == "c":
                raise TypeError(f"casting complex numbers to {self.cast} is not supported")

    @property
    def output_dtype(self) -> np.dtype[Any]:
        """Dtype of the output, in native byte order."""
        return np.dtype(self.cast or self.dtype).newbyteorder("=")
