"""Work on several pictures side by side."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from numpy.typing import NDArray

from recordmill.compat.processors import num_processors


def in_threads(make: Callable[[int], NDArray[Any]], count: int) -> list[NDArray[Any]]:
    """Results of a function for 0 … count - 1, in order."""
    threads = min(num_processors(), count)
    if threads <= 1:
        return [make(position) for position in range(count)]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(make, range(count)))
