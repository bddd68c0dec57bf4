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


def resolve_few(positions: Sequence[int], num_records: int) -> NDArray[np.int64] | range:
    """Positions from 0, as `resolve` gives them; a single one as a range, which costs a tenth of an array.

    Parameters
    ----------
    positions : sequence of int
    num_records : int

    Returns
    -------
    ndarray of int64, or range

    Raises
    ------
    IndexError
        A position outside 0 … `num_records` - 1.
    """
    if len(positions) != 1:
        return resolve(positions, num_records)
    position = int(positions[0])
    if not -num_records <= position < num_records:
        raise IndexError(f"position {position} of {num_records} records")
    place = position % num_records
    return range(place, place + 1)
