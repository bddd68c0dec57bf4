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


def position_of(position: int, num_records: int) -> int:
    """Position from 0 of one that may count from the end.

    Parameters
    ----------
    position : int
    num_records : int

    Returns
    -------
    int

    Raises
    ------
    IndexError
        A position outside ``-num_records`` … ``num_records - 1``.
    """
    if not -num_records <= position < num_records:
        raise IndexError(f"position {position} of {num_records} records")
    return position % num_records
