"""Generators of random numbers for one sample after the other."""

from __future__ import annotations

from sys import getrefcount
from typing import Any

import numpy as np
from numpy.typing import NDArray


class Generators:
    """Gives the generator of a row: the same object again, with another key, as long as nobody has kept it.

    Making a generator takes several times as long as giving one another key.

    Parameters
    ----------
    keys : ndarray of uint64, shape (n, 2)
    """

    def __init__(self, keys: NDArray[np.uint64]) -> None:
        self._keys = keys
        self._bits: Any = None
        self._generator: Any = None
        self._state: Any = None

    def of(self, row: int) -> np.random.Generator:
        """Philox generator with the key of a row, at its beginning.

        Parameters
        ----------
        row : int

        Returns
        -------
        Generator
        """
        if self._generator is None or self._is_kept():
            self._bits = np.random.Philox(key=self._keys[row])
            self._state, self._generator = self._bits.state, np.random.Generator(self._bits)
        else:
            self._state["state"]["key"] = self._keys[row]
            self._bits.state = self._state
        return self._generator  # type: ignore[no-any-return]

    def _is_kept(self) -> bool:
        """Whether somebody else has the generator, or its bits: here are two references each, and one of the call."""
        return getrefcount(self._generator) > 2 or getrefcount(self._bits) > 3
