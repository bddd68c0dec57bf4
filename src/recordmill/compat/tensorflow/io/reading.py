"""Columns of a batch from the library's parser; large batches are read in runs that fit into the processor's cache."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

import recordmill as rm
from recordmill.compat.tensorflow.io.assembling import flat_values

_RUN_BYTES = 1 << 20


def read_columns(payloads: Sequence[bytes], schema: rm.Schema) -> dict[str, Any]:
    """Columns of records that hold an ``Example``.

    Parameters
    ----------
    payloads : sequence of bytes
    schema : Schema

    Returns
    -------
    dict of str to ndarray or Ragged
        As `parse_payloads` gives them; strings of several runs are objects already.

    Raises
    ------
    FeatureError, PayloadError
        `record` is the place in the batch.
    """
    runs = list(_runs(payloads))
    if len(runs) < 2:
        return rm.parse_payloads(payloads, schema, payload="example")
    parts = []
    for start, stop in runs:
        try:
            found = rm.parse_payloads(payloads[start:stop], schema, payload="example")
        except (rm.FeatureError, rm.PayloadError) as error:
            error.record = start + (error.record or 0)
            raise
        parts.append({name: _with_objects(column) for name, column in found.items()})
    return {name: _joined([part[name] for part in parts]) for name in schema}


def _runs(payloads: Sequence[bytes]) -> Iterator[tuple[int, int]]:
    """Places from and to which payloads are of about a MiB."""
    start = total = 0
    for place, payload in enumerate(payloads, 1):
        total += len(payload)
        if total >= _RUN_BYTES:
            yield start, place
            start, total = place, 0
    if start < len(payloads):
        yield start, len(payloads)


def _with_objects(column: Any) -> Any:
    """Column whose strings are objects, so that their bytes are not copied again."""
    if isinstance(column, rm.Ragged) and isinstance(column.data, rm.Ragged):
        return rm.Ragged(flat_values(column), column.row_splits)
    is_bytes = isinstance(column, rm.Ragged) and column.data.dtype == np.uint8
    return flat_values(column) if is_bytes else column


def _joined(parts: list[Any]) -> Any:
    if isinstance(parts[0], np.ndarray):
        return np.concatenate(parts)
    starts = np.cumsum([0, *(len(part.data) for part in parts)])
    shifted = [part.row_splits[:-1] + start for part, start in zip(parts, starts, strict=False)]
    return rm.Ragged(np.concatenate([part.data for part in parts]), np.concatenate([*shifted, starts[-1:]]))
