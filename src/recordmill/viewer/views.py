"""Filtered and sorted views of the records, computed in the background."""

from __future__ import annotations

import threading
from collections import OrderedDict
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.conversion.selection import filter_records, parse_condition, read_feature
from recordmill.conversion.source import Positions
from recordmill.errors import FeatureError
from recordmill.suggestions import suggest_name
from recordmill.viewer.jobs import Job
from recordmill.viewer.records import ViewedRecords

# Number of views that are kept; each needs 8 bytes per record.
_MAX_VIEWS = 8


class Views:
    """Views by their identifiers, the least recently used ones are dropped."""

    def __init__(self, records: ViewedRecords) -> None:
        self._records = records
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        self._num_created = 0
        self._lock = threading.Lock()

    def create(self, where: str, sort: str | None, *, descending: bool) -> str:
        """Start to compute a view and return its identifier.

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
        """Return the job of a view; raise KeyError if there is none."""
        with self._lock:
            if identifier not in self._jobs:
                raise KeyError(f"there is no view {identifier!r}")
            self._jobs.move_to_end(identifier)
            return self._jobs[identifier]

    def describe(self, identifier: str) -> dict[str, Any]:
        """Return the state of a view."""
        job = self.get(identifier)
        positions, num_skipped = job.result or (None, 0)
        num_records = None if positions is None else len(positions)
        return {"id": identifier, **job.to_json(), "num_records": num_records, "num_skipped": num_skipped}

    def get_positions(self, identifier: str) -> Positions:
        """Return the positions of the records of a view; raise KeyError until it is computed."""
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
        codes, values = read_feature(records.records, sort, positions, 1, "skip", job.advance)
        positions = np.asarray(positions, np.int64)[_sort_codes(codes, values, descending=descending)]
    return positions, num_skipped


def _sort_codes(codes: NDArray[np.int64], values: list[Any], *, descending: bool) -> NDArray[np.int64]:
    """Return the stable order of records by the values of their codes; None and NaN are last."""
    missing = [code for code, value in enumerate(values) if value is None or value != value]  # noqa: PLR0124 (NaN)
    present = sorted(
        set(range(len(values))) - set(missing), key=lambda code: (isinstance(values[code], bytes), values[code])
    )
    ranks = np.empty(len(values), np.int64)
    ranks[present] = np.arange(len(present))[:: -1 if descending else 1]
    ranks[missing] = len(values)
    return np.argsort(ranks[codes], kind="stable")
