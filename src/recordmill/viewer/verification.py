"""Verify the shards of a dataset in the background."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from recordmill.conversion.source import ShardRecords
from recordmill.shards.collection import ShardCollection
from recordmill.shards.completeness import Selection
from recordmill.shards.reader import ShardReader
from recordmill.shards.verify import Report, verify_shard
from recordmill.types import Fault
from recordmill.viewer.jobs import Job

# Maximum number of faults that the page lists.
_MAX_FAULTS = 10_000


class Verification:
    """Verifies all bytes of shards, one shard after another. Thread-safe.

    Parameters
    ----------
    source : ShardRecords
    """

    def __init__(self, source: ShardRecords) -> None:
        self._source = source
        self._lock = threading.Lock()
        self._job: Job | None = None
        self._found = _Faults()

    def start(self) -> None:
        """Start the verification, unless it is running."""
        with self._lock:
            if self._job is None or self._job.state != "running":
                found = self._found = _Faults()
                self._job = Job(lambda job: self._verify(job, found))

    def cancel(self) -> None:
        """Stop the verification after the current shard."""
        with self._lock:
            if self._job is not None:
                self._job.cancel()

    def to_json(self) -> dict[str, Any]:
        """Return the progress in records, and the faults that were found so far."""
        with self._lock:
            job, found = self._job, self._found
        progress = {"state": "idle", "done": 0, "total": 0, "error": None} if job is None else job.to_json()
        readers = (reader for collection in self._source.collections for reader in collection.readers)
        return progress | {
            "num_bytes": sum(reader.sidecar.num_stored_bytes for reader in readers),
            "num_faults": found.num_faults,
            "faults": list(found.listed),
        }

    def _verify(self, job: Job, found: _Faults) -> None:
        job.total, start = len(self._source), 0
        for collection in self._source.collections:
            for reader in collection.readers:
                job.check()
                found.add(_verify_shard(collection, reader), reader, start)
                job.advance(len(reader))
                start += len(reader)


class _Faults:
    """The faults that were found so far, with their positions in the dataset."""

    def __init__(self) -> None:
        self.listed: list[dict[str, Any]] = []
        self.num_faults = 0

    def add(self, report: Report, reader: ShardReader, start: int) -> None:
        """Add the faults of one shard. `start` is the position of its first record in the dataset."""
        for fault in report.faults[: _MAX_FAULTS - len(self.listed)]:
            record = _find_record(fault, reader)
            position = None if record is None else start + record
            self.listed.append(fault.to_json() | {"position": position})
        self.num_faults += report.num_faults


def _verify_shard(collection: ShardCollection, reader: ShardReader) -> Report:
    options = {"format": reader.format, "compression": reader.compression, **collection.limits}
    files = list(reader.files)
    return verify_shard(reader.shard.storage, files, options, collection.codec_name, Selection(files))


def _find_record(fault: Fault, reader: ShardReader) -> int | None:
    """Return the position of the damaged record in its shard; None if the fault does not lie in a record."""
    index = reader.index
    if fault.offset is None:
        return None
    record = int(np.searchsorted(index.offsets, fault.offset, side="right")) - 1
    return record if record >= 0 and fault.offset < index.offsets[record] + index.lengths[record] else None
