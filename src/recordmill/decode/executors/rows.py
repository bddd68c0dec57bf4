"""Runs a function over the rows of a batch with threads, and gathers what fails."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

from recordmill.errors import MissingExtraError


def for_rows(function: Callable[[int], None], count: int, threads: int) -> dict[int, Exception]:
    """Call a function for 0 … `count` - 1.

    Parameters
    ----------
    function : callable
    count : int
    threads : int
        Each takes one run of rows; 0 and 1 are the caller's own.

    Returns
    -------
    dict of int to Exception
        What was raised, by row, in order.

    Raises
    ------
    MissingExtraError, MemoryError
        These are not about a row.
    """
    parts = max(1, min(threads, count))
    bounds = [count * part // parts for part in range(parts + 1)]
    runs = [range(start, stop) for start, stop in pairwise(bounds)]
    if parts == 1:
        return _run(function, runs[0])
    with ThreadPoolExecutor(parts, thread_name_prefix="recordmill-decode") as pool:
        faults: dict[int, Exception] = {}
        for found in pool.map(lambda run: _run(function, run), runs):
            faults |= found
        return faults


def _run(function: Callable[[int], None], rows: range) -> dict[int, Exception]:
    faults: dict[int, Exception] = {}
    for row in rows:
        try:
            function(row)
        except (MissingExtraError, MemoryError):
            raise
        except Exception as error:  # noqa: BLE001
            faults[row] = error
    return faults
