"""Filtered and sorted views of the records, computed in the background."""

from __future__ import annotations

import threading
from collections import OrderedDict
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.conversion.selection import filter_records, parse_condition, read_feature, read_numeric_feature
from recordmill.conversion.source import Positions, ShardRecords
from recordmill.errors import FeatureError
from recordmill.suggestions import suggest_name
from recordmill.viewer.jobs import Job
from recordmill.viewer.records import ViewedRecords

# Maximum number of views in memory; each needs 8 bytes per record.
_MAX_VIEWS = 8


class Views:
    """Stores views by identifier, and drops the least recently used views."""

    def __init__(self, records: ViewedRecords) -> None:
        self._records = records
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        self._num_created = 0
        self._lock = threading.Lock()

    def create(self, where: str, sort: str | None, *, descending: bool) -> str:
        """Start the computation of a view, and return its identifier.

        Raises
        ------
        WhereError
            If the condition cannot be parsed, or does not fit the features.
        FeatureError
            If there is no feature to sort by.
        """
        records = self._records
        if where.strip():
            parse_condition(where, [collection.schema for collection in records.records.collections])
        if sort is not None and sort not in records.schema:
            similar = suggest_name(sort, records.schema)
            hint = f"did you mean {similar!r}?" if similar else None
            raise FeatureError(f"there is no feature {sort!r} to sort by", kind="bad_option", hint=hint)
        with self._lock:
            self._num_created += 1
            identifier = str(self._num_created)
            self._jobs[identifier] = Job(partial(_compute_view, records, where.strip(), sort, descending))
            while len(self._jobs) > _MAX_VIEWS:
                self._jobs.popitem(last=False)[1].cancel()
        return identifier

    def get(self, identifier: str) -> Job:
        """Return the job that computes a view; raise KeyError if the view does not exist."""
        with self._lock:
            if identifier not in self._jobs:
                raise KeyError(f"there is no view {identifier!r}")
            self._jobs.move_to_end(identifier)
            return self._jobs[identifier]

    def describe(self, identifier: str) -> dict[str, Any]:
        """Describe a view as JSON: computation state, progress, number of records, number of skipped records."""
        job = self.get(identifier)
        positions, num_skipped = job.result or (None, 0)
        num_records = None if positions is None else len(positions)
        return {"id": identifier, **job.to_json(), "num_records": num_records, "num_skipped": num_skipped}

    def get_positions(self, identifier: str) -> Positions:
        """Return the positions of the records in a view; raise KeyError if the view is not computed yet."""
        job = self.get(identifier)
        if job.result is None:
            raise KeyError(f"the view {identifier!r} is {job.state}")
        positions: Positions = job.result[0]
        return positions

    def cancel_all(self) -> None:
        """Stop the computation of all views."""
        with self._lock:
            for job in self._jobs.values():
                job.cancel()


def _compute_view(
    records: ViewedRecords, where: str, sort: str | None, descending: bool, job: Job
) -> tuple[Positions, int]:
    """Return the positions of the selected records in order, and the number of records that could not be read."""
    job.total = len(records) * (bool(where) + (sort is not None))
    positions, num_skipped = records.positions, 0
    if where:
        selected = filter_records(records.records, positions, where, "skip", 1, job.advance)
        positions, num_skipped = selected.positions, len(selected.skipped)
    if sort is not None:
        job.total = job.done + len(positions)
        ranks, is_missing = _compute_sort_keys(records.records, sort, positions, job)
        order = np.lexsort((-ranks if descending else ranks, is_missing))
        positions = np.asarray(positions, np.int64)[order]
    return positions, num_skipped


def _compute_sort_keys(
    source: ShardRecords, name: str, positions: Positions, job: Job
) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return a numeric sort key for each record, and a mask of the records whose value is missing or NaN."""
    kinds = {part.schema[name].kind for part in source.collections if name in part.schema}
    if "bytes" in kinds:
        codes, values = read_feature(source, name, positions, 1, "skip", job.advance)
        by_value = sorted(range(len(values)), key=lambda code: (isinstance(values[code], bytes), values[code] or 0))
        ranks = np.empty(len(values), np.int64)
        ranks[by_value] = np.arange(len(values))
        return ranks[codes], np.array([value is None for value in values], bool)[codes]
    numbers, is_missing = read_numeric_feature(source, name, positions, np.result_type(*kinds), job.advance)
    is_missing |= numbers != numbers  # noqa: PLR0124 (NaN)
    numbers[is_missing] = 0
    return np.unique(numbers, return_inverse=True)[1], is_missing
