"""Store which shards of a run are finished, so that ``pack(resume=True)`` continues after an interruption.

The progress file is a hidden file of JSON lines beside the shards. Its first line describes the source and the options.
Each further line describes one finished shard, which keeps its temporary name until all shards are committed.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.decode.pillow import import_pillow
from recordmill.errors import ResumeError
from recordmill.packing.chunks import Order
from recordmill.packing.options import ImageOptions, OutputOptions, RecordOptions, RunOptions
from recordmill.packing.records import RecordBuilder
from recordmill.packing.sources.base import Items
from recordmill.shards.output import ShardOutput
from recordmill.storage.addresses import describe_path
from recordmill.storage.base import Storage, write_file_atomically
from recordmill.types import Ragged

VERSION = 1
# Number of names that are joined at a time to compute a digest.
_DIGEST_ROWS = 1 << 16

# (position in the output order, position in the source, path, cause) of a skipped item.
SkippedItem = tuple[int, int, str, str]


@dataclass(frozen=True, slots=True)
class FinishedShard:
    """Entry of the progress file for one finished shard.

    Parameters
    ----------
    number : int
        Position of the shard among all shards.
    temporary : str
        Temporary file name, without folder.
    num_records, num_bytes : int
        Number of records, and uncompressed size.
    start, stop : int
        Range of the items in the shard, as positions in the output order.
    skipped : list of (int, int, str, str)
        (position in the output order, position in the source, path, cause) of each skipped item.
    stamps : str
        For each file in the range, a checksum of its size and modification time, as uint32 in base64.
    checksums : str or None
        CRC-32C of each payload as uint32 in base64, for formats without checksums of their own.
    """

    number: int
    temporary: str
    num_records: int
    num_bytes: int
    start: int
    stop: int
    skipped: list[SkippedItem]
    stamps: str
    checksums: str | None


def encode_numbers(numbers: NDArray[Any] | Sequence[int]) -> str:
    """Encode numbers as uint32 in base64."""
    return base64.b64encode(np.asarray(numbers).astype("<u4").tobytes()).decode()


def decode_numbers(text: str) -> NDArray[np.uint32]:
    """Decode a result of `encode_numbers`."""
    return np.frombuffer(base64.b64decode(text), "<u4")


def describe_run(
    items: Items,
    format_: str,
    payload: str,
    outputs: OutputOptions,
    records: RecordOptions,
    images: ImageOptions,
    run: RunOptions,
    seed: int | None,
) -> dict[str, Any]:
    """Return what determines the bytes of the shards: the options of a run and digests of its items, as JSON values."""
    import recordmill

    description: dict[str, Any] = {
        "version of recordmill": recordmill.__version__,
        "format": format_,
        "shards": outputs.shards or 1,
        "max_shard_bytes": outputs.max_shard_bytes,
        "compression": outputs.compression,
        "compression_level": outputs.compression_level,
        "mask": images.mask,
        "check": images.check,
        "keep_shape": images.keep_shape,
        "on_error": run.on_error,
        "shuffle": seed,
    }
    description |= asdict(records) | {"payload": payload}
    recoding = images.recoding
    description |= {"encode": None} if recoding is None else asdict(recoding)
    description["number of files"] = len(items)
    description["file names"] = _compute_digest(items.names)
    description["keys"] = _compute_digest(items.keys)
    description["labels"] = _compute_digest(items.labels)
    description["masks"] = _compute_digest(items.masks)
    for name, values in items.extra.items():
        description[f"feature {name!r}"] = _compute_digest(values)
    return description


def _compute_digest(values: Any) -> str | None:
    """Return a digest of a column of the items."""
    if values is None:
        return None
    digest = hashlib.sha256()
    if isinstance(values, list):
        for start in range(0, len(values), _DIGEST_ROWS):
            separator = b"\0" if start else b""
            digest.update(separator + b"\0".join(map(os.fsencode, values[start : start + _DIGEST_ROWS])))
    elif isinstance(values, Ragged):
        digest.update(np.ascontiguousarray(values.row_splits).tobytes() + np.ascontiguousarray(values.data).tobytes())
    else:
        digest.update(f"{values.dtype} {values.shape}".encode() + np.ascontiguousarray(values).tobytes())
    return digest.hexdigest()[:16]


def find_versions(builder: RecordBuilder) -> dict[str, str]:
    """Return the installed versions of the packages that determine the bytes of the records."""
    import recordmill

    versions = {"recordmill": recordmill.__version__}
    if builder.options.recoding is not None:
        versions["pillow"] = import_pillow().__version__
    return versions


def digest_of_run(description: Mapping[str, Any]) -> str:
    """Return a digest of a result of `describe_run`."""
    return hashlib.sha256(json.dumps(description, sort_keys=True).encode()).hexdigest()[:32]


def check_unchanged(shard: FinishedShard, items: Items, order: Order) -> None:
    """Raise ResumeError if an image of a finished shard has changed since it was read."""
    packed = items.take(slice(shard.start, shard.stop) if order is None else order[shard.start : shard.stop])
    changed = np.flatnonzero(packed.count_fitting(1 << 62)[1] != decode_numbers(shard.stamps))
    if len(changed):
        raise ResumeError(
            "the interrupted run cannot be resumed: an image has changed since it was packed",
            kind="changed_input",
            shard=describe_path(packed.paths()[int(changed[0])]),
            hint="restore the image, or pack without resume=True to start again",
        )


def find_keys(shard: FinishedShard, items: Items, order: Order) -> list[int]:
    """Return the keys of the records of a finished shard."""
    skipped = {position for position, *_ in shard.skipped}
    rows = np.array([row for row in range(shard.start, shard.stop) if row not in skipped], np.int64)
    keys: list[int] = items.keys[rows if order is None else order[rows]].tolist()
    return keys


class RunRecord:
    """The progress file of one run. It lists the finished shards.

    Parameters
    ----------
    storage : Storage
    path : str
        Path of the progress file.
    description : dict
        Result of `describe_run`.
    """

    def __init__(self, storage: Storage, path: str, description: dict[str, Any]) -> None:
        self._storage, self._path, self._description = storage, path, description
        self.finished: dict[int, FinishedShard] = {}

    def start(self) -> None:
        """Write the progress file with the entries in `finished`."""
        lines = [{"version": VERSION, "run": self._description}, *map(asdict, self.finished.values())]
        write_file_atomically(self._storage, self._path, b"".join(map(_encode_line, lines)))

    def keep_only(self, numbers: Container[int]) -> None:
        """In `finished`, keep only the shards with these numbers. To update the progress file, call `start`."""
        self.finished = {number: shard for number, shard in self.finished.items() if number in numbers}

    def load(self) -> bool:
        """Read the progress file of an interrupted run; return False if there is none.

        Raises
        ------
        ResumeError
            If the source or the options differ from those of the interrupted run.
        """
        try:
            lines = self._storage.read(self._path).split(b"\n")
        except FileNotFoundError:
            return False
        entries = list(_parse_lines(lines))
        if not entries or entries[0].get("version") != VERSION:
            return False
        self._check_same_run(entries[0]["run"])
        for entry in entries[1:]:
            entry["skipped"] = [tuple(item) for item in entry["skipped"]]
            shard = FinishedShard(**entry)
            self.finished[shard.number] = shard
        return True

    def _check_same_run(self, other: Mapping[str, Any]) -> None:
        for name in dict.fromkeys([*self._description, *other]):
            new, old = self._description.get(name), other.get(name)
            if new != old:
                is_digest = name in ("file names", "keys", "labels", "masks") or name.startswith("feature ")
                change = f"the {name} of the source changed" if is_digest else f"{name} is {new!r}, but was {old!r}"
                raise ResumeError(
                    f"the interrupted run cannot be resumed: {change}",
                    kind="different_run",
                    shard=self._path,
                    hint="restore the source and the options, or pack without resume=True to start again",
                )

    def add(self, shard: FinishedShard) -> None:
        """Add a finished shard to the progress file and to `finished`."""
        self._storage.append(self._path, _encode_line(asdict(shard)))
        self.finished[shard.number] = shard


class TaskRecorder:
    """Collects the stamps and the skipped items of one task, and adds its finished shards to the progress file.

    Parameters
    ----------
    record : RunRecord
    span : range
        Range of the items of the task, as positions in the output order.
    number : int
        Position of the next shard of the task among all shards.
    """

    def __init__(self, record: RunRecord, span: range, number: int) -> None:
        self._record, self.number = record, number
        # The progress file does not contain the items from `_start` to `_end` yet. Some of these items may already be
        # processed: `_stamps` contains the stamps of all processed items, and `_skipped` lists the skipped items.
        self._start, self._end = span.start, span.stop
        self._stamps: list[NDArray[np.int64]] = []
        self._skipped: list[SkippedItem] = []

    def add_chunk(self, stamps: NDArray[np.int64], skipped: list[SkippedItem]) -> None:
        """Keep the stamps (see `FinishedShard`) and the skipped items of a chunk until its shard is finished."""
        self._stamps.append(stamps)
        self._skipped += skipped

    def add_finished(self, output: ShardOutput, *, is_last: bool) -> None:
        """Add a finished shard to the progress file.

        With `is_last`, the range of the shard ends at the last item of the task, even if the last items were skipped.
        """
        stop = self._end if is_last else self._find_shard_end(output.num_records)
        count, stamps = stop - self._start, np.concatenate(self._stamps)
        skipped = [item for item in self._skipped if item[0] < stop]
        shard = FinishedShard(
            self.number,
            os.path.basename(output.temporary),
            output.num_records,
            output.num_bytes,
            self._start,
            stop,
            skipped,
            encode_numbers(stamps[:count]),
            None if output.checksums is None else encode_numbers(output.checksums),
        )
        self._record.add(shard)
        self._start, self.number = stop, self.number + 1
        self._stamps, self._skipped = [stamps[count:]], self._skipped[len(skipped) :]

    def _find_shard_end(self, num_records: int) -> int:
        """Return the end of a shard's range of items.

        The range contains `num_records` packed items and the skipped items before and between them.
        """
        stop = self._start + num_records
        for position, *_ in self._skipped:
            if position < stop:
                stop += 1
        return stop


def _encode_line(entry: Mapping[str, Any]) -> bytes:
    return json.dumps(entry, separators=(",", ":")).encode() + b"\n"


def _parse_lines(lines: Sequence[bytes]) -> Iterable[dict[str, Any]]:
    """Yield the parsed lines of a progress file. Stop at the first incomplete line."""
    for line in lines:
        try:
            entry = json.loads(line)
        except ValueError:
            return
        yield entry
