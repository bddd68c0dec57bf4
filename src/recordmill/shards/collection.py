"""A short word for what shards hold, wherever they lie."""

from __future__ import annotations

import errno
import json
import os
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill import _core
from recordmill.allocator import keep_freed_memory
from recordmill.errors import FormatError, RecordmillError
from recordmill.formats.base import PayloadCodec
from recordmill.formats.raw import RAW
from recordmill.formats.registry import PAYLOADS
from recordmill.schema import Feature, Schema
from recordmill.shards.entry_points import EntryTables, load_tables
from recordmill.shards.files import enough, identity_of, is_short
from recordmill.shards.index import save_schema, sidecar_path
from recordmill.shards.inference import infer, payload_name, telling
from recordmill.shards.native_errors import blamed, native_errors
from recordmill.shards.open import OpenShard
from recordmill.shards.paths import Paths, expand_paths, leaving_out
from recordmill.shards.reader import ShardReader, position_of, read_single, resolve
from recordmill.storage.local import LOCAL
from recordmill.types import Ragged, RecordRef


def fingerprint_of(readers: Sequence[ShardReader]) -> str:
    """Format, number of records, and a digest of each shard's frame lengths and some of its bytes, in order."""
    import hashlib

    name, digest = readers[0].format, hashlib.sha256()
    for reader in readers:
        lengths = reader.index.lengths.astype("<i8").view(np.uint8)
        digest.update(f"{len(reader)} {_core.crc32c(lengths)} {identity_of(reader.sidecar)}\n".encode())
    return f"{name}-{sum(map(len, readers))}-{digest.hexdigest()[:16]}"


Ints = NDArray[np.int64]


def gather(
    shards: Iterable[OpenShard], which: Ints, rows: Sequence[int] | Ints, frames: Sequence[Ints], *, verify: bool
) -> Ragged:
    """Payloads of records that lie in several shards."""
    parts: list[Ragged] = []
    order: list[Ints] = []
    for number, shard in enumerate(shards):
        chosen = np.flatnonzero(which == number)
        wanted = (values[chosen] for values in frames)
        with native_errors(shard.name, np.asarray(rows)[chosen]):
            fetched = _core.fetch(shard.source, shard.format.framing.kind, *wanted, verify=verify)
        parts.append(Ragged.from_blocks(*fetched))
        order.append(chosen)
    return parts[0] if len(parts) == 1 else _in_order(parts, order, len(which))


def _in_order(parts: Sequence[Ragged], order: Sequence[Ints], count: int) -> Ragged:
    rows: list[bytes] = [b""] * count
    for chosen, part in zip(order, parts, strict=True):
        for place, payload in zip(chosen, part, strict=True):
            rows[place] = payload
    return Ragged.from_rows(rows)


_MAX_SCANS = 8  # shards that are scanned at the same time


def open_all(names: Sequence[str], format: str | None, options: dict[str, Any]) -> list[ShardReader]:  # noqa: A002
    """Open shards of one format."""
    full = [name for name in names if LOCAL.stat(name).num_bytes]
    with leaving_out(names):
        opened = {name: ShardReader(name, format=format, **options) for name in full}
    formats = {reader.format: reader for reader in opened.values()}
    if len(formats) > 1:
        found = ", ".join(f"{reader.path} is {name}" for name, reader in formats.items())
        raise FormatError("the shards are of several formats", kind="wrong_format", expected="one format", found=found)
    known = format or next(iter(formats), None)
    for name in names:
        if name not in opened:
            opened[name] = ShardReader(name, format=known, **options)
    readers = [opened[name] for name in names]
    return _join_spanning(readers, _damages(readers), options)


def _damages(readers: list[ShardReader]) -> list[RecordmillError | None]:
    """Find all frames: at once where an index is kept, side by side where shards must be scanned."""
    if all(LOCAL.exists(sidecar_path(reader.path)) for reader in readers):
        return [_damage(reader) for reader in readers]
    import hashlib  # noqa: F401 (what threads need is imported while there is a descriptor for it)

    from recordmill.concurrency.threads import map_range

    try:
        if not is_short():
            return map_range(lambda number: _damage(readers[number]), len(readers), _MAX_SCANS)
    except OSError as error:
        if error.errno != errno.EMFILE:
            raise
    return [_damage(reader) for reader in readers]  # one by one takes fewer descriptors


def _damage(reader: ShardReader) -> RecordmillError | None:
    try:
        len(reader)
    except RecordmillError as error:
        return error
    return None


def _join_spanning(
    readers: list[ShardReader], damages: list[RecordmillError | None], options: dict[str, Any]
) -> list[ShardReader]:
    """Put shards together whose records go on in the next one, where the format allows that."""
    joined: list[ShardReader] = []
    at = 0
    while at < len(readers):
        damage, reader, end = damages[at], readers[at], at + 1
        while damage is not None:
            spans = readers[at].shard.format.spans_files and (damage.kind or "").startswith("truncated")
            if not spans or end == len(readers) or readers[at].compression is not None:
                raise damage
            end += 1
            paths = [path for part in readers[at:end] for path in part.shard.paths]
            reader = ShardReader(paths, format=readers[at].format, **options)
            damage = _damage(reader)
        joined.append(reader)
        at = end
    return joined


# Payload bytes that a schema is inferred from: whoever opens a set waits for them.
_SAMPLE_BYTES = 16 << 20
# Bytes of a record from which on the allocator matters.
_LARGE = 16 << 10


class ShardCollection:
    """Examples of many shards of one format.

    Safe to pickle and to use after fork; safe to read from several threads.

    Parameters
    ----------
    paths : path, pattern, folder, or iterable of them
        Patterns and folders are read in natural order.
    format : str, optional
    compression : {"auto", "gzip", "zlib"} or None
    payload : str, optional
        What the first records are by default.
    schema : Schema or mapping of str to Feature, optional
        What the writer noted, else what the first records show, by default.
    verify : bool
        Whether every checksum that the format has is computed on reading.
    max_decompressed_bytes : int, optional
        Per compressed shard.
    """

    def __init__(
        self,
        paths: Paths,
        *,
        format: str | None = None,  # noqa: A002
        compression: str | None = "auto",
        payload: str | None = None,
        schema: Schema | Mapping[str, Feature] | None = None,
        verify: bool = True,
        max_decompressed_bytes: int | None = None,
    ) -> None:
        names = expand_paths(paths)
        options = {"compression": compression, "verify": verify, "max_decompressed_bytes": max_decompressed_bytes}
        self.verify, self._limit = verify, max_decompressed_bytes
        self.readers = open_all(names, format, options)
        self._borders = [0, *accumulate(map(len, self.readers))]
        self.mean_bytes = sum(reader.sidecar.end for reader in self.readers) // max(len(self), 1) or 1
        self._payload, self._given = payload, None if schema is None else Schema(schema)
        first = self.readers[0] if payload and schema is not None else telling(self.readers, verify=verify)
        self.codec_name = payload_name(first.shard, payload, verify=verify)
        self.is_schema_inferred = False
        self.schema = self._given if self._given is not None else self._find_schema(first)
        self._plan: tuple[int, Any] | None = None
        self._table: _core.FrameTable | None = None
        self._tables: dict[int, EntryTables | None] = {}

    def _find_schema(self, first: ShardReader) -> Schema:
        kept = first.sidecar
        if kept.schema is not None and kept.payload == self.codec_name:
            self.is_schema_inferred = kept.is_inferred
            return kept.schema
        self.is_schema_inferred = True
        found = infer(first.shard, self.codec, num_bytes=_SAMPLE_BYTES, verify=self.verify).schema
        if self._payload is None and kept.schema is None and first.keeps_index:
            save_schema(first.shard, kept, found, self.codec_name)
        return found

    @property
    def codec(self) -> PayloadCodec:
        """How payloads become examples."""
        return PAYLOADS[self.codec_name]

    @property
    def paths(self) -> list[str]:
        """The shards' files in order."""
        return [path for reader in self.readers for path in reader.shard.paths]

    def __len__(self) -> int:
        """Return the number of examples."""
        return self._borders[-1]

    def __getitems__(self, positions: Sequence[int]) -> list[dict[str, Any]]:
        """Examples at the given positions, in the given order."""
        if self.mean_bytes >= _LARGE:
            keep_freed_memory()
        if len(positions) == 1 and self.codec is not RAW:
            return [self._single(int(positions[0]))]
        places, codec, schema = resolve(positions, len(self)), self.codec, self.schema
        if codec is RAW:
            return _examples(self.columns(places), len(places))
        groups = self._read(_core.read_examples, places, schema)
        return [one for count, parsed in groups for one in _examples(codec.columns(parsed, schema, count), count)]

    def _single(self, position: int) -> dict[str, Any]:
        reader, record = self._found(position)
        return read_single(reader, record, self.codec, (self.schema, self._compiled(self.schema)), verify=self.verify)

    def _found(self, position: int) -> tuple[ShardReader, int]:
        shard = bisect_right(self._borders, place := position_of(position, len(self))) - 1
        return self.readers[shard], place - self._borders[shard]

    def columns(self, positions: NDArray[np.int64] | range, schema: Schema | None = None) -> dict[str, Any]:
        """Features of the examples at the given positions as arrays."""
        wanted = self.schema if schema is None else schema
        if self.codec is RAW:
            return RAW.columns([self._payloads(positions)], wanted, len(positions))
        return self.codec.columns(self._read(_core.read_columns, positions, wanted), wanted, len(positions))

    def _read(self, read: Callable[..., Any], positions: NDArray[np.int64] | range, schema: Schema) -> Any:
        """What a reader of the native module brings of the records at some positions."""
        (which, used), rows, offsets, lengths = self._locate(positions)
        if not enough(len(used)):
            return self._parsed(read, positions, schema)
        shards = [self.readers[number].shard for number in used] or [self.readers[0].shard]
        kind, sources = shards[0].format.framing.kind, [shard.source for shard in shards]
        try:
            return read((sources, which, kind, offsets, lengths), self._compiled(schema), verify=self.verify)
        except (_core.CoreFault, _core.CoreChanged) as error:
            with native_errors(shards[blamed(error, sources, which)].name, rows):
                raise

    def _parsed(self, read: Callable[..., Any], positions: NDArray[np.int64] | range, schema: Schema) -> Any:
        """The same for records of more shards than can be open at a time: payloads first."""
        payloads = self._payloads(positions)
        try:
            parsed = _core.parse(payloads.data, payloads.row_splits, self._compiled(schema))
        except _core.CoreFault as error:
            at = int(error.args[1])
            self._read(read, positions[at : at + 1], schema)  # one record: the error tells its place
            raise
        return parsed if read is _core.read_columns else [(len(payloads), parsed)]

    def _payloads(self, positions: NDArray[np.int64] | range) -> Ragged:
        (which, used), rows, *frames = self._locate(positions)
        shards = (self.readers[number].shard for number in used or [0])
        return gather(shards, which, rows, frames, verify=self.verify)

    def entry_points(self, positions: NDArray[np.int64] | range, feature: str) -> Ragged | None:
        """Entry points that are kept for the images at the given positions."""
        (which, used), rows, _, _ = self._locate(positions)
        kept = [self._kept_tables(int(shard)) for shard in used]
        if not any(tables is not None and feature in tables.features for tables in kept):
            return None
        found = [b""] * len(rows)
        for number, tables in enumerate(kept):
            if tables is not None:
                chosen = np.flatnonzero(which == number)
                for row, table in zip(chosen.tolist(), tables.read(np.asarray(rows)[chosen], feature), strict=True):
                    found[row] = table
        return Ragged.from_rows(found)

    def _kept_tables(self, shard: int) -> EntryTables | None:
        if shard not in self._tables:
            self._tables[shard] = load_tables(self.readers[shard].shard)
        return self._tables[shard]

    def _locate(self, positions: NDArray[np.int64] | range) -> tuple[Any, Any, Any, Any]:
        """Shards and frames of positions: ((ordinals, shard numbers), rows, offsets, lengths)."""
        if isinstance(positions, range):
            shard = bisect_right(self._borders, positions.start) - 1
            start = self._borders[shard]
            if positions.step == 1 and 0 < len(positions) <= self._borders[shard + 1] - positions.start:
                within = range(positions.start - start, positions.stop - start)
                frames = self.readers[shard].index[within.start : within.stop]
                return (np.zeros(len(within), np.int64), [shard]), within, frames.offsets, frames.lengths
            positions = np.arange(positions.start, positions.stop, positions.step, dtype=np.int64)
        number, used, *found = self._frame_table().locate(np.ascontiguousarray(positions))
        which, rows, offsets, lengths = (np.frombuffer(memoryview(block), np.int64) for block in (number, *found))
        return (which, used), rows, offsets, lengths

    def _frame_table(self) -> _core.FrameTable:
        if self._table is None:
            self._table = _core.FrameTable([(one.index.offsets, one.index.lengths) for one in self.readers])
        return self._table

    def _compiled(self, schema: Schema) -> Any:
        """Plan of a schema; that of the data set's own is kept."""
        if schema is not self.schema:
            return self.codec.plan(schema)
        if self._plan is None or self._plan[0] != os.getpid():
            self._plan = (os.getpid(), self.codec.plan(schema))
        return self._plan[1]

    def where(self, position: int) -> RecordRef:
        """Place of one example."""
        reader, record = self._found(position)
        return RecordRef(reader.shard.name, record, int(reader.index.offsets[record]))

    def fingerprint(self) -> str:
        """Short word for what the shards hold, wherever they lie; for recognizing them in a later run."""
        return fingerprint_of(self.readers)

    def _key(self) -> tuple[Any, ...]:
        kinds = tuple((reader.format, reader.compression) for reader in self.readers)
        return (*self.paths, kinds, self.codec_name, json.dumps(self.schema.to_json()), self.verify, self._limit)

    def __eq__(self, other: object) -> bool:
        """Whether both read the same files in the same way."""
        return self._key() == other._key() if isinstance(other, ShardCollection) else NotImplemented

    def __hash__(self) -> int:
        """Hash of the files' names and of how they are read."""
        return hash(self._key())

    def __repr__(self) -> str:
        """Readable form."""
        first, *rest = (name for reader in self.readers for name in reader.files)
        return f"open({first!r}{f' and {len(rest)} more' if rest else ''}: {len(self)} x ({', '.join(self.schema)}))"

    def __getstate__(self) -> dict[str, Any]:
        """State without native objects."""
        return self.__dict__ | {"_plan": None, "_table": None, "_tables": {}}


def _examples(columns: dict[str, Any], count: int) -> list[dict[str, Any]]:
    rows = zip(*map(list, columns.values()), strict=True) if columns else [()] * count
    return [dict(zip(columns, row, strict=True)) for row in rows]
