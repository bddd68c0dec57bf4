"""Bytes that elements take, and how many of them are made at a time for whoever goes through them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from recordmill.errors import RecordmillError
from recordmill.types import Ragged

if TYPE_CHECKING:
    from recordmill.pipeline.dataset import Dataset
    from recordmill.pipeline.program import Program

# Samples that are made at once: so many at most, of about so many bytes together.
_MOST, _BYTES = 256, 8 << 20


def num_bytes(value: Any) -> int:
    """Bytes of a sample, a batch, or what is in it.

    Parameters
    ----------
    value : object

    Returns
    -------
    int
        About; of what is unknown, as of a number.
    """
    if isinstance(value, dict):
        return sum(map(num_bytes, value.values()))
    if isinstance(value, Ragged):
        return num_bytes(value.data) + value.row_splits.nbytes
    if isinstance(value, list):
        return sum(map(num_bytes, value))
    return int(getattr(value, "nbytes", 0)) or (len(value) if isinstance(value, bytes) else 8)


def mean_bytes(program: Program) -> int:
    """Bytes of a record, about; 1 where sources do not know them.

    Parameters
    ----------
    program : Program

    Returns
    -------
    int
    """
    return max(getattr(source, "mean_bytes", 1) for source in program.sources)


def in_order(dataset: Dataset) -> Iterator[dict[str, Any]]:
    """Elements of epoch 0 by position; those in front of a faulty one come before the error.

    Parameters
    ----------
    dataset : Dataset
        With a length.

    Yields
    ------
    dict
    """
    start, step, count = 0, 1, len(dataset)
    while start < count:
        chunk = range(start, min(start + step, count))
        elements = _fetched(dataset, chunk)
        if dataset.stage is None and elements:
            step = _next_step(step, elements)
        start = chunk.stop
        # One by one where one of them is faulty: those in front of it come out, then the error.
        yield from elements or (dataset[position] for position in chunk)
        del elements


def _fetched(dataset: Dataset, chunk: range) -> Sequence[dict[str, Any]]:
    try:
        return dataset.fetch(chunk)
    except RecordmillError:
        return []


def _next_step(step: int, elements: Sequence[dict[str, Any]]) -> int:
    """As many as take little memory, and not many more than before, as they may become larger."""
    largest = max(num_bytes(elements[0]), num_bytes(elements[-1]), 1)
    return max(1, min(_MOST, 4 * step, _BYTES // largest))
