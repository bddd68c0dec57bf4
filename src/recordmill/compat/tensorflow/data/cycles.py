"""How many data sets are open at once where a program leaves it to the machine, which decides the order."""

from __future__ import annotations

from typing import Any

from recordmill.compat.processors import num_processors
from recordmill.compat.tensorflow.data.structures import whole

# TensorFlow counts so many threads for each data set that it opens by itself: one that reads, two that prefetch.
_THREADS_EACH = 3


def default_cycle(num_parallel_calls: Any = None) -> int:
    """Data sets that TensorFlow opens at once on as many processors.

    Parameters
    ----------
    num_parallel_calls : int, optional
        -1 where the machine decides that, too.

    Returns
    -------
    int
    """
    processors = num_processors()
    if num_parallel_calls is None:
        return processors
    calls = whole(num_parallel_calls, "num_parallel_calls")
    return -(-processors // _THREADS_EACH) if calls == -1 else min(max(calls, 1), processors)
