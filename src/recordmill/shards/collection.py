"""Access to many shards of one format as one sequence of examples."""

from __future__ import annotations

import errno
import json
import os
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill import _core
from recordmill.allocator import keep_freed_memory
from recordmill.concurrency.daemon_pool import map_in_daemons
from recordmill.errors import FormatError, RecordmillError
from recordmill.formats.base import PayloadCodec
from recordmill.formats.raw import RAW
from recordmill.formats.registry import PAYLOADS, get_format, get_payload
from recordmill.schema import Feature, Schema
from recordmill.shards.class_names import find_classes
from recordmill.shards.completeness import Selection, describe_content, select_shards
from recordmill.shards.entry_points import EntryPointTables, load_entry_points
from recordmill.shards.file_pool import can_read_in_one_call, identity_from_sidecar, is_near_descriptor_limit
from recordmill.shards.index import save_schema, sidecar_path
from recordmill.shards.inference import detect_payload, find_representative_shard, infer_features
from recordmill.shards.native_errors import NATIVE_ERRORS, find_failed_source, native_errors
from recordmill.shards.open import DEFAULT_MAX_RECORD_BYTES, OpenShard
from recordmill.shards.paths import Paths, add_pattern_hint, list_paths, no_shard_error
from recordmill.shards.reader import ShardReader, open_reader, resolve_position, resolve_positions
from recordmill.shards.remote_reads import FramesAhead, fetch_sources, load_indexes, locate_frames
from recordmill.storage.addresses import describe_path
from recordmill.storage.base import Storage
from recordmill.storage.choose import choose_storage
from recordmill.storage.compression import check_compression
from recordmill.types import Ragged, RecordRef

Ints = NDArray[np.int64]

# Maximum number of shards that are scanned concurrently.
_MAX_SCANS = 8
_MAX_REMOTE_SCANS = 32
# Maximum size of the payloads from which `open` infers a schema. It is small, because the caller waits for `open`.
_SAMPLE_BYTES = 16 << 20
# Default size in bytes of a block for `shuffle(block=...)` if the shards are remote. A block should need only one
# request. The size is below the limit of 8 MiB per request, because some blocks have larger records than the average.
_BLOCK_BYTES = 7 << 20
# If the mean record size in bytes is at least this, the allocator is configured to keep freed memory for reuse.
_LARGE_RECORD_BYTES = 16 << 10


class ShardCollection:
    """One sequence of the examples in many shards. All shards must have the same format.

    Can be pickled, used after a fork and read by several threads.

    Parameters
    ----------
    paths : path, pattern, directory, or iterable of them
        Patterns and directories are read in natural order.
    format : str, optional
        Format of the shards. Detected by default.
    compression : str or None
        One of "auto", "gzip" or "zlib".
    payload : str, optional
        Name of the payload codec. Detected from the first records by default.
    schema : Schema or mapping of str to Feature, optional
        By default the schema of the writer; without one, a schema that is inferred from the first records.
    verify : bool
        Check all checksums that the format has.
    allow_incomplete : bool
        Omit foreign and replaced shards of an incomplete dataset instead of raising IncompleteDatasetError.
    storage : Storage, optional
        Storage of the paths. Chosen by the paths by default.
    limits : int, optional
        Arguments `max_decompressed_bytes` and `max_record_bytes` of `open_shard`.
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
        allow_incomplete: bool = False,
        storage: Storage | None = None,
        **limits: int | None,
    ) -> None:
        paths = list_paths(paths)
        storage = choose_storage(paths) if storage is None else storage
        self.storage = storage
        options = {"compression": compression, "verify": verify, **limits}
        self.verify, self.limits = verify, limits
        selection = select_shards(paths, storage)
        self.readers = _open_complete_readers(
            selection, paths, storage, format, options, allow_incomplete=allow_incomplete
        )
        manifest = next(iter(selection.manifests.values()), None)
        if all(reader.entry is not None for reader in self.readers) and manifest is not None:
            # The indexes are loaded when records of their shards are read.
            self.classes = selection.classes
            payload = manifest.payload if payload is None else payload
            if schema is None and manifest.schema is not None and payload == manifest.payload:
                schema = Schema.from_json(manifest.schema)
        else:
            indexed = (reader.sidecar.classes for reader in self.readers)
            self.classes = find_classes(storage, selection.files, selection.classes, indexed)
        # Position of the first record of each shard, and the total number of records.
        self._starts, num_bytes = [0], 0
        for reader in self.readers:
            self._starts.append(self._starts[-1] + len(reader))
            num_bytes += reader.sidecar.end if reader.entry is None else reader.entry.num_bytes
        self.mean_bytes = num_bytes // max(self._starts[-1], 1) or 1
        is_known = payload is not None and schema is not None
        first = self.readers[0] if is_known else find_representative_shard(self.readers, verify=verify)
        if payload is not None:
            self.codec_name = get_payload(payload, first.shard.format).name
        else:
            self.codec_name = detect_payload(first.shard, first.sidecar, verify=verify).name
        self.is_schema_inferred = False
        self.schema = (
            Schema(schema) if schema is not None else self._read_or_infer_schema(first, is_default=payload is None)
        )
        self._plan: tuple[int, Any] | None = None
        self._frame_table: _core.FrameTable | None = None
        self._is_damaged = False  # `_locate_frames` sets this when it builds the frame table.
        self._entry_tables: dict[int, EntryPointTables | None] = {}
        # Frames of remote shards that will be read soon, in the order of their requests.
        self._ahead: list[FramesAhead] = []

    def _read_or_infer_schema(self, first: ShardReader, *, is_default: bool) -> Schema:
        sidecar = first.sidecar
        if sidecar.schema is not None and sidecar.payload == self.codec_name:
            self.is_schema_inferred = sidecar.is_inferred
            return sidecar.schema
        self.is_schema_inferred = True
        shard, verify = first.shard, self.verify
        schema = infer_features(shard, self.codec, num_bytes=_SAMPLE_BYTES, sidecar=sidecar, verify=verify).schema
        if is_default and sidecar.schema is None and first.keeps_index and not first.damage:
            save_schema(first.shard, sidecar, schema, self.codec_name)
        return schema

    @property
    def is_remote(self) -> bool:
        """True if the shards are in remote storage."""
        return self.storage.is_remote

    @property
    def default_block(self) -> int:
        """Default number of records per block for `shuffle`. It is 1 for local shards: single records are shuffled."""
        if not self.is_remote:
            return 1
        return min(max(_BLOCK_BYTES // self.mean_bytes, 1), max(len(self), 1))

    @property
    def codec(self) -> PayloadCodec:
        """Codec that parses payloads to examples."""
        return PAYLOADS[self.codec_name]

    @property
    def paths(self) -> list[str]:
        """Paths of all files in order."""
        return [path for reader in self.readers for path in reader.shard.paths]

    def __len__(self) -> int:
        """Return the number of examples."""
        return self._starts[-1]

    def __getitems__(self, positions: Sequence[int]) -> list[dict[str, Any]]:
        """Return the examples at the given positions, in the given order."""
        if self.mean_bytes >= _LARGE_RECORD_BYTES:
            keep_freed_memory()
        if len(positions) == 1 and self.codec is not RAW and not self.storage.is_remote:
            return [self._read_example(int(positions[0]))]
        resolved, codec, schema = resolve_positions(positions, len(self)), self.codec, self.schema
        if codec is RAW:
            return _columns_to_examples(self.columns(resolved), len(resolved))
        groups = self._read_records(_core.read_examples, resolved, schema)
        examples = []
        for count, parsed in groups:
            examples += _columns_to_examples(codec.build_columns(parsed, schema, count), count)
        return examples

    def _read_example(self, position: int) -> dict[str, Any]:
        """Read one example. This is faster than a call of `columns` with one position."""
        reader, record = self.find_reader(position)
        reader.raise_damage([record])
        shard, index, checksums = reader.shard, reader.index, reader.checksums
        checksum = -1 if checksums is None else int(checksums[record])
        frame = int(index.offsets[record]), int(index.lengths[record]), checksum
        plan = self._compile_schema(self.schema)
        try:
            columns = _core.read_example(shard.source, shard.format.framing.kind, frame, plan, verify=self.verify)
        except NATIVE_ERRORS:
            with native_errors(shard.name, [record]):
                raise
        return {name: column[0] for name, column in self.codec.build_columns(columns, self.schema, 1).items()}

    def find_reader(self, position: int) -> tuple[ShardReader, int]:
        """Return the reader of the shard that contains a record, and the position of the record in the shard."""
        resolved = resolve_position(position, len(self))
        shard = bisect_right(self._starts, resolved) - 1
        return self.readers[shard], resolved - self._starts[shard]

    def columns(self, positions: NDArray[np.int64] | range, schema: Schema | None = None) -> dict[str, Any]:
        """Return the features of the examples at the given positions as arrays."""
        features = self.schema if schema is None else schema
        if self.codec is RAW:
            return RAW.build_columns([self.fetch_payloads(positions)], features, len(positions))
        return self.codec.build_columns(
            self._read_records(_core.read_columns, positions, features), features, len(positions)
        )

    def _read_records(self, read: Callable[..., Any], positions: NDArray[np.int64] | range, schema: Schema) -> Any:
        """Read and parse the records at `positions` with `read`, a function of the native module."""
        (which, used), rows, *frames = self._locate_frames(positions)
        if not can_read_in_one_call(len(used)):
            return self._read_shard_by_shard(read, positions, schema)
        shards = [self.readers[number].shard for number in used] or [self.readers[0].shard]
        kind, sources = shards[0].format.framing.kind, self._open_sources(used, shards, which, frames)
        try:
            return read((sources, which, kind, *frames), self._compile_schema(schema), verify=self.verify)
        except NATIVE_ERRORS as error:
            with native_errors(shards[find_failed_source(error, which)].name, rows):
                raise

    def _open_sources(
        self, used: Sequence[int], shards: Sequence[OpenShard], which: Ints, frames: Sequence[Any]
    ) -> list[_core.Source]:
        """Return one native source per shard. Download frames of remote shards that were not requested ahead."""
        if not self.storage.is_remote or not used:
            return [shard.source for shard in shards]
        keep_freed_memory()  # Responses have similar sizes, so the next response can reuse the freed memory.
        limit = self.limits.get("max_record_bytes") or DEFAULT_MAX_RECORD_BYTES
        numbers = np.asarray(used, np.int64)
        return fetch_sources(shards, (numbers, which, frames[0], frames[1]), list(self._ahead), limit)

    def request_ahead(self, positions: Ints) -> Callable[[], None]:
        """Request frames from remote storage before they are needed; return a function that discards the requests."""
        (which, used), _, *frames = self._locate_frames(positions)
        shards = [self.readers[number].shard for number in used]
        ahead = FramesAhead(np.asarray(used, np.int64), shards, which, frames[0], frames[1])
        self._ahead.append(ahead)

        def discard_requests() -> None:
            self._ahead.remove(ahead)
            ahead.drop()

        return discard_requests

    def _read_shard_by_shard(
        self, read: Callable[..., Any], positions: NDArray[np.int64] | range, schema: Schema
    ) -> Any:
        """Read records like `_read_records`, but keep only one shard open at a time, to save file descriptors."""
        payloads = self.fetch_payloads(positions)
        try:
            parsed = _core.parse(payloads.data, payloads.row_splits, self._compile_schema(schema))
        except (_core.CoreFault, MemoryError) as error:
            failed = int(error.args[1]) if isinstance(error, _core.CoreFault) else getattr(error, "ordinal", None)
            if failed is None:
                raise
            self._read_records(
                read, positions[failed : failed + 1], schema
            )  # Read the record again, to raise an error that names its shard and its number.
            raise
        return parsed if read is _core.read_columns else [(len(payloads), parsed)]

    def fetch_payloads(self, positions: NDArray[np.int64] | range) -> Ragged:
        """Return the payloads of the records at the given positions, without parsing them."""
        (which, used), rows, *frames = self._locate_frames(positions)
        # This is a generator, so that only one shard has to be open at a time.
        shards = (self.readers[number].shard for number in used or [0])
        if self.storage.is_remote:
            opened = list(shards)
            sources = self._open_sources(used, opened, which, frames)
            shards = (replace(shard, source=source) for shard, source in zip(opened, sources, strict=True))
        return _fetch_from_shards(shards, which, rows, frames, verify=self.verify)

    def entry_points(self, positions: NDArray[np.int64] | range, feature: str) -> Ragged | None:
        """Return the saved positions at which JPEG decoding can start, for each image; None if none are saved."""
        (which, used), rows, *_ = self._locate_frames(positions)
        tables_of_shards = [self._load_entry_point_tables(int(shard)) for shard in used]
        if not any(tables is not None and feature in tables.features for tables in tables_of_shards):
            return None
        result = [b""] * len(rows)
        for number, tables in enumerate(tables_of_shards):
            if tables is not None:
                chosen = np.flatnonzero(which == number)
                for row, table in zip(
                    chosen.tolist(), tables.read_tables(np.asarray(rows)[chosen], feature), strict=True
                ):
                    result[row] = table
        return Ragged.from_rows(result)

    def _load_entry_point_tables(self, shard: int) -> EntryPointTables | None:
        if shard not in self._entry_tables:
            self._entry_tables[shard] = load_entry_points(self.readers[shard].shard)
        return self._entry_tables[shard]

    def _locate_frames(self, positions: NDArray[np.int64] | range) -> tuple[Any, ...]:
        """Locate records: return the shard of each record, the position in that shard, and the byte range of the frame.

        Returns ((positions in the list of used shards, used shards), positions in the shards, offsets, lengths,
        checksums). All except the used shards have one entry per record.
        """
        if isinstance(positions, range):
            shard = bisect_right(self._starts, positions.start) - 1
            start = self._starts[shard]
            if positions.step == 1 and 0 < len(positions) <= self._starts[shard + 1] - positions.start:
                records = range(positions.start - start, positions.stop - start)
                reader, part = self.readers[shard], slice(records.start, records.stop)
                reader.raise_damage(records)
                frames, checksums = reader.index[part], reader.checksums
                checksums = None if checksums is None else checksums[part]
                return (np.zeros(len(records), np.int64), [shard]), records, frames.offsets, frames.lengths, checksums
            positions = np.arange(positions.start, positions.stop, positions.step, dtype=np.int64)
        if self.storage.is_remote and not self._is_indexed():
            return locate_frames(self.readers, self._starts, positions)
        if self._frame_table is None:
            indexes = [(reader.index.offsets, reader.index.lengths, reader.checksums) for reader in self.readers]
            self._frame_table = _core.FrameTable(indexes)
            self._is_damaged = any(reader.damage for reader in self.readers)
        blocks: tuple[Any, ...] = self._frame_table.locate(np.ascontiguousarray(positions))
        ordinals, used, *blocks_of_frames, checksums = blocks
        which, rows, offsets, lengths = (np.frombuffer(block, np.int64) for block in (ordinals, *blocks_of_frames))
        if self._is_damaged:
            for ordinal, row in zip(which.tolist(), rows.tolist(), strict=True):
                self.readers[used[ordinal]].raise_damage([row])
        checksums = None if checksums is None else np.frombuffer(checksums, np.int64)
        return (which, used), rows, offsets, lengths, checksums

    def _is_indexed(self) -> bool:
        """Return True if the indexes of all shards are loaded."""
        return self._frame_table is not None or all(reader.is_indexed for reader in self.readers)

    def _compile_schema(self, schema: Schema) -> Any:
        """Compile `schema` to a parser plan for the native module. Only the plan for `self.schema` is cached."""
        if schema is not self.schema:
            return self.codec.compile_schema(schema)
        if self._plan is None or self._plan[0] != os.getpid():
            self._plan = (os.getpid(), self.codec.compile_schema(schema))
        return self._plan[1]

    def where(self, position: int) -> RecordRef:
        """Locate an example: return its shard, the position of its record in that shard, and the record offset."""
        reader, record = self.find_reader(position)
        return RecordRef(reader.shard.name, record, int(reader.index.offsets[record]))

    def count_record_bytes(self, position: int) -> int:
        """Return the length in bytes of the frame of an example, without reading the frame."""
        reader, record = self.find_reader(position)
        return int(reader.index.lengths[record])

    def fingerprint(self) -> str:
        """Return a string that identifies the records. It contains the format, the record count and a digest."""
        if self.storage.is_remote:
            load_indexes(self.readers)
        return compute_fingerprint(self.readers)

    def _comparison_key(self) -> tuple[Any, ...]:
        kinds = tuple((reader.format, reader.compression) for reader in self.readers)
        schema = json.dumps(self.schema.to_json())
        return (*self.paths, kinds, self.codec_name, schema, self.verify, *sorted(self.limits.items()))

    def __eq__(self, other: object) -> bool:
        """Return True if two collections read the same files with the same options."""
        return (
            self._comparison_key() == other._comparison_key() if isinstance(other, ShardCollection) else NotImplemented
        )

    def __hash__(self) -> int:
        """Hash the paths and options."""
        return hash(self._comparison_key())

    def __repr__(self) -> str:
        """Return a readable representation; does not open shards."""
        first, *rest = (describe_path(name) for reader in self.readers for name in reader.files)
        return f"open({first!r}{f' and {len(rest)} more' if rest else ''}: {len(self)} x ({', '.join(self.schema)}))"

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes for pickling, without the native objects, which cannot be pickled."""
        return self.__dict__ | {"_plan": None, "_frame_table": None, "_entry_tables": {}, "_ahead": []}


def _columns_to_examples(columns: dict[str, Any], count: int) -> list[dict[str, Any]]:
    """Convert the columns of several examples to one dict per example."""
    rows = zip(*map(list, columns.values()), strict=True) if columns else [()] * count
    return [dict(zip(columns, row, strict=True)) for row in rows]


def _fetch_from_shards(
    shards: Iterable[OpenShard], which: Ints, rows: Sequence[int] | Ints, frames: Sequence[Any], *, verify: bool
) -> Ragged:
    """Fetch the payloads of records from several shards. `which` is an array with the shard number of each record."""
    parts: list[Ragged] = []
    order: list[Ints] = []
    for number, shard in enumerate(shards):
        chosen = np.flatnonzero(which == number)
        offsets, lengths, checksums = frames
        chosen_checksums = None if checksums is None else checksums[chosen]
        kind = shard.format.framing.kind
        with native_errors(shard.name, np.asarray(rows)[chosen]):
            blocks = _core.fetch(
                shard.source, kind, offsets[chosen], lengths[chosen], checksums=chosen_checksums, verify=verify
            )
        parts.append(Ragged.from_blocks(*blocks))
        order.append(chosen)
    if len(parts) == 1:
        return parts[0]
    payloads: list[bytes] = [b""] * len(which)
    for chosen, part in zip(order, parts, strict=True):
        for row, payload in zip(chosen, part, strict=True):
            payloads[row] = payload
    return Ragged.from_rows(payloads)


def compute_fingerprint(readers: Sequence[ShardReader]) -> str:
    """Return a string with the format, the number of records, and a digest of record lengths and block checksums."""
    import hashlib

    name, digest = readers[0].format, hashlib.sha256()
    for reader in readers:
        lengths = reader.index.lengths.astype("<i8").view(np.uint8)
        digest.update(f"{len(reader)} {_core.crc32c(lengths)} {identity_from_sidecar(reader.sidecar)}\n".encode())
    return f"{name}-{sum(map(len, readers))}-{digest.hexdigest()[:16]}"


def _open_complete_readers(
    selection: Selection,
    paths: Paths,
    storage: Storage,
    format: str | None,  # noqa: A002
    options: dict[str, Any],
    *,
    allow_incomplete: bool,
) -> list[ShardReader]:
    """Open the selected shards. Raise IncompleteDatasetError if a dataset was selected as a whole but is incomplete."""
    selection.raise_if_interrupted(storage)
    if allow_incomplete:
        selection.keep_complete()
    else:
        selection.raise_if_incomplete()
    if storage.is_remote and len(selection.manifests) == 1 and not selection.missing:
        readers = _create_readers_from_manifest(selection, storage, format, options)
    else:
        readers = open_readers(selection.files, storage, format, options)
    if selection.manifests:
        for reader in readers:
            if reader.entry is not None:
                # The size and the record count are compared with the manifest later, when the shard is read.
                continue
            selection.compare(describe_content(reader.shard, reader.load_index()))
        if not allow_incomplete:
            selection.raise_if_incomplete()
        readers = [reader for reader in readers if reader.path not in selection.replaced]
    if not readers:
        raise no_shard_error(list_paths(paths)[0])
    return readers


def _create_readers_from_manifest(
    selection: Selection,
    storage: Storage,
    format: str | None,  # noqa: A002
    options: dict[str, Any],
) -> list[ShardReader]:
    """Create the readers of all shards in a manifest, without requests to their storage."""
    ((path, manifest),) = selection.manifests.items()
    entries = {os.path.join(os.path.dirname(path), entry.name): entry for entry in manifest.shards}
    declared = format is None or get_format(format).name == manifest.format
    compression = options["compression"]
    same_compression = compression == "auto" or check_compression(compression) == manifest.compression
    if not declared or not same_compression or not entries.keys() >= set(selection.files):
        return open_readers(selection.files, storage, format, options)
    known = options | {"format": manifest.format, "compression": manifest.compression}
    readers = []
    for name in selection.files:
        if storage.stat(name).num_bytes != entries[name].num_bytes:
            selection.replaced.append(name)
            selection.complete = False
        readers.append(open_reader([name], storage, entry=entries[name], **known))
    return readers


def open_readers(
    names: Sequence[str],
    storage: Storage,
    format: str | None,  # noqa: A002
    options: dict[str, Any],
) -> list[ShardReader]:
    """Open shards and load their indexes; raise FormatError if their formats differ."""
    opened: dict[str, ShardReader] = {}
    try:
        # The format of an empty file cannot be detected. Such a file is opened below with the format of the other
        # shards.
        nonempty = [name for name in names if storage.stat(name).num_bytes]
        if storage.is_remote:
            readers = map_in_daemons(
                lambda number: open_reader([nonempty[number]], storage, format=format, **options),
                len(nonempty),
                _MAX_REMOTE_SCANS,
            )
            opened = dict(zip(nonempty, readers, strict=True))
        else:
            for name in nonempty:
                opened[name] = open_reader([name], storage, format=format, **options)
    except FormatError as error:
        add_pattern_hint(error, [*map(describe_path, names)])
        raise
    formats = {reader.format: reader for reader in opened.values()}
    if len(formats) > 1:
        found = ", ".join(f"{describe_path(reader.path)} is {name}" for name, reader in formats.items())
        message = "all shards must have the same format"
        raise FormatError(message, kind="wrong_format", expected="one format", found=found)
    detected = format or next(iter(formats), None)
    for name in names:
        if name not in opened:
            opened[name] = open_reader([name], storage, format=detected, **options)
    readers = [opened[name] for name in names]
    return _join_readers_of_continued_files(readers, _load_indexes(readers, names, storage), storage, options)


def _load_indexes(readers: list[ShardReader], names: Sequence[str], storage: Storage) -> list[RecordmillError | None]:
    """Load or build all indexes, in parallel if possible. Return the first error of each shard, or None if intact."""
    if not storage.is_remote and all(map(storage.exists, map(sidecar_path, names))):
        return [_load_index_and_find_damage(reader) for reader in readers]
    import hashlib  # noqa: F401 (Scans use it in threads; an import there may find no free file descriptor.)

    from recordmill.concurrency.threads import map_range

    try:
        if not is_near_descriptor_limit():

            def load_and_find_damage(number: int) -> RecordmillError | None:
                return _load_index_and_find_damage(readers[number])

            if storage.is_remote:
                return map_in_daemons(load_and_find_damage, len(readers), _MAX_REMOTE_SCANS)
            return map_range(load_and_find_damage, len(readers), _MAX_SCANS)
    except OSError as error:
        if error.errno != errno.EMFILE:
            raise
    # Scan one shard after another, which needs fewer file descriptors.
    return [_load_index_and_find_damage(reader) for reader in readers]


def _load_index_and_find_damage(reader: ShardReader) -> RecordmillError | None:
    """Load the index of a shard; return the error of its first damaged record, or None if the shard is intact."""
    return next(iter(reader.damage.values()), None)


def _join_readers_of_continued_files(
    readers: list[ShardReader], damages: list[RecordmillError | None], storage: Storage, options: dict[str, Any]
) -> list[ShardReader]:
    """Join the readers of consecutive files if the last record of a file continues in the next file."""
    joined: list[ShardReader] = []
    start = 0
    while start < len(readers):
        damage, reader, end = damages[start], readers[start], start + 1
        while damage is not None:
            can_span = readers[start].shard.format.spans_files and (damage.kind or "").startswith("truncated")
            if not can_span or end == len(readers) or readers[start].compression is not None:
                break
            end += 1
            paths = [path for part in readers[start:end] for path in part.shard.paths]
            reader = open_reader(paths, storage, format=readers[start].format, **options)
            damage = _load_index_and_find_damage(reader)
        joined.append(reader)
        start = end
    return joined
