"""Work on several pictures side by side."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from numpy.typing import NDArray


def num_threads() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_threads(make: Callable[[int], NDArray[Any]], count: int) -> list[NDArray[Any]]:
    """Results of a function for 0 … count - 1, in order.

    Parameters
    ----------
    make : callable
    count : int

    Returns
    -------
    list of ndarray
    """
    threads = min(num_threads(), count)
    if threads <= 1:
        return [make(position) for position in range(count)]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(make, range(count)))
