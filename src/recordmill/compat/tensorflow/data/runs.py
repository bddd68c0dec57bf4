"""Batches cut out of runs of byte strings, without an element for each string."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.core.rows import Rows, strings_of
from recordmill.compat.tensorflow.core.tensor import Tensor
from recordmill.compat.tensorflow.data.elements import Element, Failed, Run, Step
from recordmill.types import Ragged

# Fewer than this are not worth a run of their own; more take memory that is not used again.
_LEAST, _MOST = 16, 4096
# Mean bytes of a string from which on an object of its own costs little beside it.
_LONG = 32 << 10


def run_length(size: int) -> int:
    """Strings of a run that batches are cut out of."""
    return min(size * -(-_LEAST // size), _MOST)


def batches_of(runs: Iterator[Run], size: int, drop_remainder: bool) -> Iterator[Step]:
    """Batches of the strings of runs; a failure stands in the place of one, and spoils its batch."""
    parts: list[Run] = []
    count = 0
    for part in _cut(runs, size):
        parts.append(_held(part))
        count += 1 if isinstance(part, Failed) else len(part)
        if count == size:
            yield _joined(parts)
            parts, count = [], 0
    if parts and (not drop_remainder or any(isinstance(part, Failed) for part in parts)):
        yield _joined(parts)


def gathered(strings: Iterator[bytes | Failed], length: int) -> Iterator[Run]:
    """Runs of strings that come one by one."""
    held: list[bytes] = []
    for one in strings:
        if isinstance(one, Failed):
            yield from _objects(held)
            yield one
            held = []
            continue
        held.append(one)
        if len(held) == length:
            yield from _objects(held)
            held = []
    yield from _objects(held)


def _objects(held: list[bytes]) -> Iterator[NDArray[Any]]:
    if held:
        yield np.fromiter(held, object, len(held))


def _cut(runs: Iterator[Run], size: int) -> Iterator[Run]:
    """Runs, divided where a batch ends."""
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


def _held(part: Run) -> Run:
    """Long strings as objects while they are in the processor's cache, so that joining does not copy them again."""
    if isinstance(part, Ragged) and len(part.data) > _LONG * len(part):
        return strings_of(part)
    return part


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
