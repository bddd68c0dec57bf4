"""Process many records per call: divide records into chunks, and find the records that make a call fail."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from recordmill.errors import DamageError, FeatureError, ImageError, LimitError, RecordmillError

T = TypeVar("T")

# Errors that concern only one record. Callers may skip this record and continue.
_RECORD_ERRORS = (DamageError, FeatureError, LimitError, ImageError)


def split_by_bytes(lengths: NDArray[np.int64], max_records: int, max_bytes: int) -> Iterator[range]:
    """Yield ranges of up to `max_records` records and `max_bytes` bytes. A record over `max_bytes` is yielded alone."""
    ends = np.cumsum(lengths)
    start = 0
    while start < len(ends):
        limit = (ends[start - 1] if start else 0) + max_bytes
        stop = max(int(np.searchsorted(ends, limit, side="right")), start + 1)
        stop = min(stop, start + max_records)
        yield range(start, stop)
        start = stop


def apply_to_intact(function: Callable[[range], T], records: range) -> Iterator[tuple[range, T | RecordmillError]]:
    """Call a function with a range of records. After an error, call it with each half, to find the failing records.

    Yields each range with its result, and each record that fails with its error.
    """
    try:
        result = function(records)
    except _RECORD_ERRORS as error:
        if len(records) <= 1:
            yield records, error
            return
        middle = len(records) // 2
        yield from apply_to_intact(function, records[:middle])
        yield from apply_to_intact(function, records[middle:])
    else:
        yield records, result
