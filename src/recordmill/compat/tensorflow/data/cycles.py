"""How many data sets are open at once where a program leaves it to the machine, which decides the order."""

from __future__ import annotations

from typing import Any

from recordmill.compat.processors import num_processors
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.data.structures import whole

# TensorFlow counts so many threads for each data set that it opens by itself: one that reads, two that prefetch.
_THREADS_EACH = 3


def cycle_of(cycle_length: Any, num_parallel_calls: Any) -> int:
    """Data sets that are open at once."""
    if cycle_length in (None, -1):
        return default_cycle(num_parallel_calls)
    cycle = whole(cycle_length, "cycle_length")
    if num_parallel_calls is not None and cycle > 0 and whole(num_parallel_calls, "num_parallel_calls") > cycle:
        raise InvalidArgumentError(
            "If `cycle_length` is set to a fixed value, `num_parallel_calls` must be either `tf.data.AUTOTUNE` or a "
            f"value less than or equal to `cycle_length`. However, `num_parallel_calls` is {num_parallel_calls} and "
            f"`cycle_length` is {cycle}"
        )
    return cycle


def default_cycle(num_parallel_calls: Any = None) -> int:
    """Data sets that TensorFlow opens at once on as many processors."""
    processors = num_processors()
    if num_parallel_calls is None:
        return processors
    calls = whole(num_parallel_calls, "num_parallel_calls")
    return -(-processors // _THREADS_EACH) if calls == -1 else min(max(calls, 1), processors)
