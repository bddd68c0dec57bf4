"""The records of several collections of shards as one sequence, read in chunks of about a megabyte."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from recordmill.concurrency.threads import map_ordered
from recordmill.errors import FormatError, InputError, RecordmillError
from recordmill.formats.base import PayloadCodec
from recordmill.shards.chunks import apply_to_intact
from recordmill.shards.collection import ShardCollection
from recordmill.shards.completeness import select_shards
from recordmill.shards.paths import Paths, list_paths
from recordmill.storage.choose import StorageOptions, choose_storage
from recordmill.types import Ragged

OnError = Literal["stop", "skip"]
Ints = NDArray[np.int64]
# Positions of records. Consecutive positions are stored as a range to save memory.
Positions = range | Ints
Out = TypeVar("Out")
# Maximum number of records in a chunk, and maximum size of these records in bytes.
MAX_CHUNK_RECORDS, MAX_CHUNK_BYTES = 1 << 15, 1 << 20


@dataclass(frozen=True, slots=True)
class SkippedRecord:
    """A record that could not be converted, and was skipped.

    Parameters
    ----------
    shard : str
        Path of its shard.
    record : int
        Position in the shard, from 0.
    cause : str
        Description of the problem.
    """

    shard: str
    record: int
    cause: str

    def to_json(self) -> dict[str, Any]:
        """Return the record as a dict that can be written as JSON.

        Returns
        -------
        dict
            ``{"shard", "record", "cause"}``
        """
        return {"shard": self.shard, "record": self.record, "cause": self.cause}


@dataclass(slots=True)
class Outcome:
    """Results of a function for the records of a chunk, and the records for which it failed.

    Parameters
    ----------
    results : list of (ndarray of int64, object)
        Rows of the chunk in increasing order, and the result for these rows.
    skipped : list of (int, SkippedRecord)
        Row of the chunk, and the record.
    """

    results: list[tuple[Ints, Any]] = field(default_factory=list)
    skipped: list[tuple[int, SkippedRecord]] = field(default_factory=list)


class ShardRecords:
    """The records of one or more collections of shards, one after another. Can be pickled.

    Parameters
    ----------
    collections : list of ShardCollection
        Their formats, payloads and features may differ.
    """

    def __init__(self, collections: Sequence[ShardCollection]) -> None:
        self.collections = list(collections)
        self._starts = np.cumsum([0, *map(len, self.collections)]).tolist()
        # Position of the first record of each shard.
        self._readers = [reader for collection in self.collections for reader in collection.readers]
        self._reader_starts = np.cumsum([0, *map(len, self._readers)])

    def __len__(self) -> int:
        """Return the number of records."""
        return int(self._starts[-1])

    @property
    def paths(self) -> list[str]:
        """Paths of the files of all shards, in the order of the records."""
        return [path for collection in self.collections for path in collection.paths]

    @property
    def classes(self) -> list[str] | None:
        """Class names in the order of the label numbers; None if there are none or the collections disagree."""
        names = [collection.classes for collection in self.collections]
        return names[0] if all(other == names[0] for other in names) else None

    def fingerprint(self) -> str:
        """Return a string that identifies the records, independent of the paths."""
        return " ".join(collection.fingerprint() for collection in self.collections)

    def find(self, position: int) -> tuple[ShardCollection, int]:
        """Locate a record: return its collection, and the position of the record in that collection."""
        number = bisect_right(self._starts, position) - 1
        return self.collections[number], position - self._starts[number]

    def split_chunks(self, positions: Positions) -> Iterator[tuple[int, int]]:
        """Divide positions into chunks of limited size; yield the start and the stop of each chunk."""
        start, num_candidates = 0, 64
        while start < len(positions):
            part = positions[start : start + min(num_candidates, MAX_CHUNK_RECORDS)]
            ends = np.cumsum(self.frame_lengths(part))
            count = max(int(np.searchsorted(ends, MAX_CHUNK_BYTES, side="right")), 1)
            yield start, start + count
            start += count
            num_candidates = 2 * count + 1

    def frame_lengths(self, positions: Positions) -> Ints:
        """Return the frame length of each record in bytes.

        If `positions` is a range, the result covers only the shard of the first record.
        """
        if isinstance(positions, range):
            number = bisect_right(self._reader_starts, positions.start) - 1
            start, stop = (bound - int(self._reader_starts[number]) for bound in (positions.start, positions.stop))
            return self._readers[number].index.lengths[start:stop]
        numbers = np.searchsorted(self._reader_starts, positions, side="right") - 1
        lengths = np.empty(len(positions), np.int64)
        for number in np.unique(numbers).tolist():
            rows = np.flatnonzero(numbers == number)
            lengths[rows] = self._readers[number].index.lengths[positions[rows] - self._reader_starts[number]]
        return lengths

    def apply(
        self, positions: Positions, function: Callable[[PayloadCodec, Ragged, Ints], Any], on_error: OnError
    ) -> Outcome:
        """Call a function with the payloads of records, separately for each shard collection.

        Parameters
        ----------
        positions : range or ndarray of int64
            Positions of the records of a chunk.
        function : callable
            Takes the codec, the payloads, and the rows of the chunk.
        on_error : str
            "stop" raises the error of the first record that fails, with its shard and position. "skip" omits such
            records.
        """
        outcome = Outcome()
        for number, rows, local in self._group_by_collection(positions):
            self._apply_to_collection(self.collections[number], rows, local, function, on_error, outcome)
        return outcome

    def _group_by_collection(self, positions: Positions) -> Iterator[tuple[int, Ints, Positions]]:
        """Group the records of a chunk by shard collection.

        Yields the number of a collection, the rows of its records in the chunk, and their positions in the collection.
        """
        if isinstance(positions, range) and len(positions):
            number = bisect_right(self._starts, positions.start) - 1
            start = self._starts[number]
            if positions.stop <= self._starts[number + 1]:
                yield number, np.arange(len(positions)), range(positions.start - start, positions.stop - start)
                return
        array = np.asarray(positions, np.int64)
        numbers = np.searchsorted(self._starts, array, side="right") - 1
        for number in np.unique(numbers).tolist():
            rows = np.flatnonzero(numbers == number)
            yield number, rows, array[rows] - self._starts[number]

    def _apply_to_collection(
        self,
        collection: ShardCollection,
        rows: Ints,
        local: Positions,
        function: Any,
        on_error: OnError,
        outcome: Outcome,
    ) -> None:
        """Call a function with the payloads of records from one shard collection.

        `local` contains the positions of the records in the collection, and `rows` their rows in the chunk.
        """

        def call_with_payloads(part: range) -> Any:
            chosen = slice(part.start, part.stop)
            return function(collection.codec, collection.fetch_payloads(local[chosen]), rows[chosen])

        for part, result in apply_to_intact(call_with_payloads, range(len(rows))):
            if not isinstance(result, RecordmillError):
                outcome.results.append((rows[part.start : part.stop], result))
                continue
            place = collection.where(int(local[part.start]))
            result.shard, result.record, result.offset = place
            if on_error == "stop":
                raise result
            cause = result.message if result.kind is None else f"{result.kind}: {result.message}"
            outcome.skipped.append((int(rows[part.start]), SkippedRecord(place.shard, place.record, cause)))

    def map_chunks(
        self, positions: Positions, function: Callable[[Positions, int], Out], threads: int
    ) -> Iterator[tuple[int, Out]]:
        """Call `function(positions, start)` for each chunk. Yield the record count and the result of each call.

        `start` is the number of records in all earlier chunks.
        """

        def process_chunk(bounds: tuple[int, int]) -> tuple[int, Out]:
            start, stop = bounds
            return stop - start, function(positions[start:stop], start)

        if threads > 1:
            yield from map_ordered(process_chunk, self.split_chunks(positions), threads, name="recordmill-convert")
        else:
            yield from map(process_chunk, self.split_chunks(positions))


def open_sources(paths: Paths, storage_options: StorageOptions = None) -> ShardRecords:
    """Open shards of one or several formats as one sequence of records."""
    names = list_paths(paths)
    storage = choose_storage(names, storage_options)
    selection = select_shards(names, storage)
    try:
        if len(names) == 1 or not selection.manifests:
            return ShardRecords([ShardCollection(names, storage=storage)])
    except FormatError as error:
        if len(names) == 1 or error.expected != "one format":
            raise
    collections = [ShardCollection(name, storage=storage) for name in names]
    _check_no_repeated_file(collections)
    return ShardRecords(collections)


def _check_no_repeated_file(collections: Sequence[ShardCollection]) -> None:
    paths = [path for collection in collections for path in collection.paths]
    repeated = next((path for path in paths if paths.count(path) > 1), None) if len(set(paths)) < len(paths) else None
    if repeated is not None:
        raise InputError("the sources contain the same shard twice", kind="bad_source", shard=repeated)
