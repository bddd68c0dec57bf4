"""Positions that may count from the end, as positions from 0."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def resolve(positions: Sequence[int] | NDArray[np.integer[Any]], num_records: int) -> NDArray[np.int64]:
    """Positions from 0, of positions some of which may count from the end.

    Parameters
    ----------
    positions : sequence of int
    num_records : int

    Returns
    -------
    ndarray of int64

    Raises
    ------
    IndexError
        A position outside ``-num_records`` … ``num_records - 1``.
    """
    rows = np.asarray(positions, dtype=np.int64).reshape(-1)
    outside = (rows < -num_records) | (rows >= num_records)
    if outside.any():
        raise IndexError(f"position {rows[outside][0]} of {num_records} records")
    return np.where(rows < 0, rows + num_records, rows)


def numbered(values: NDArray[np.int64], count: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Values that occur, rising, and for each element its place among these: `numpy.unique` without a sort.

    Parameters
    ----------
    values : ndarray of int64
        Of 0 … `count` - 1.
    count : int

    Returns
    -------
    used : ndarray of int64
    places : ndarray of int64
        As many as values.
    """
    present = np.zeros(count, np.bool_)
    present[values] = True
    used = np.flatnonzero(present)
    places = np.empty(count, np.int64)
    places[used] = np.arange(len(used))
    return used, places[values]
