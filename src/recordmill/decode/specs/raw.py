"""How bytes that are numbers become an array."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from recordmill.decode.specs.base import Spec
from recordmill.decode.specs.checks import whole


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

    Examples
    --------
    >>> Raw("float32", ("height", "width"))
    Raw('float32', shape=('height', 'width'))
    """

    dtype: str
    shape: Sequence[int | str] = ()
    stack: bool = True
    feature: str | None = None

    def __post_init__(self) -> None:
        """Check the options."""
        dtype: np.dtype[Any] = np.dtype(self.dtype)
        if dtype.kind not in "biufc":
            raise TypeError(f"dtype is one of numbers, not {self.dtype!r}")
        if isinstance(self.shape, str):
            raise TypeError(f"shape is a sequence of lengths, not {self.shape!r}")
        shape = tuple(one if isinstance(one, str) else whole("shape", one, 0, 2**40) for one in self.shape)
        self._set(dtype=dtype.str if dtype.str[0] == ">" else dtype.name, shape=shape)
