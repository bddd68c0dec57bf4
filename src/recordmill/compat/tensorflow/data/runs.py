"""Cut batches out of runs of byte strings, without an element for each string."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.core.rows import Rows, strings_of
from recordmill.compat.tensorflow.core.tensor import Tensor
from recordmill.compat.tensorflow.data.elements import Element, Failed, Run, Step
from recordmill.types import Ragged

# Smallest and largest number of strings that are read at a time.
_MIN_RUN, _MAX_RUN = 16, 4096
# Mean bytes of a string from which on one object per string is cheaper than copying the buffer.
_LONG_BYTES = 32 << 10


def run_length(size: int) -> int:
    """Return the number of strings to read at a time for batches of a size."""
    return min(size * -(-_MIN_RUN // size), _MAX_RUN)


def batches_of(runs: Iterator[Run], size: int, drop_remainder: bool) -> Iterator[Step]:
    """Cut runs into batches; an error takes the place of one string, and of the batch that the string is in."""
    parts: list[Run] = []
    count = 0
    for part in _cut(runs, size):
        is_long = isinstance(part, Ragged) and len(part.data) > _LONG_BYTES * len(part)
        parts.append(strings_of(part) if is_long else part)  # type: ignore[arg-type]
        count += 1 if isinstance(part, Failed) else len(part)
        if count == size:
            yield _joined(parts)
            parts, count = [], 0
    if parts and (not drop_remainder or any(isinstance(part, Failed) for part in parts)):
        yield _joined(parts)


def gathered(strings: Iterator[bytes | Failed], length: int) -> Iterator[Run]:
    """Collect single strings to runs."""
    run: list[bytes] = []
    for one in strings:
        if isinstance(one, Failed):
            if run:
                yield np.fromiter(run, object, len(run))
            yield one
            run = []
            continue
        run.append(one)
        if len(run) == length:
            yield np.fromiter(run, object, len(run))
            run = []
    if run:
        yield np.fromiter(run, object, len(run))


def _cut(runs: Iterator[Run], size: int) -> Iterator[Run]:
    """Divide runs where a batch ends."""
    left = size
    for run in runs:
        if isinstance(run, Failed):
            yield run
            left = left - 1 or size
            continue
        start = 0
        while start < len(run):
            stop = min(start + left, len(run))
            yield run if stop - start == len(run) else run[start:stop]
            left = left - (stop - start) or size
            start = stop


def _joined(parts: list[Run]) -> Step:
    strings: list[Ragged | NDArray[Any]] = []
    for part in parts:
        if isinstance(part, Failed):
            return part
        strings.append(part)
    rows = [part for part in strings if isinstance(part, Ragged)]
    if len(rows) == len(strings):
        return Element(Rows(rows[0] if len(rows) == 1 else _concatenated(rows)))
    objects = [part if isinstance(part, np.ndarray) else strings_of(part) for part in strings]
    return Element(Tensor(np.concatenate(objects)))


def _concatenated(rows: list[Ragged]) -> Ragged:
    starts = np.cumsum([0, *(len(part.data) for part in rows)])
    splits = [part.row_splits[:-1] + start for part, start in zip(rows, starts, strict=False)]
    return Ragged(np.concatenate([part.data for part in rows]), np.concatenate([*splits, starts[-1:]]))
