"""`salvage`: copy the intact records of damaged shards to new shards, and report what was lost."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill import _core
from recordmill.errors import FormatError, FramingError, InputError, LimitError, RecordmillError, ShardChangedError
from recordmill.formats.base import Format
from recordmill.formats.registry import FORMATS, get_format
from recordmill.schema import Schema
from recordmill.shards.class_names import find_classes
from recordmill.shards.completeness import Selection, select_shards
from recordmill.shards.dataset_output import DatasetDescription, DatasetOutput, ShardOptions
from recordmill.shards.foreign_index import read_foreign_index
from recordmill.shards.index import IndexMode
from recordmill.shards.intact_records import IntactRecords, find_intact_records
from recordmill.shards.lost_ranges import LostRange, LostRanges, find_lost_ranges
from recordmill.shards.native_errors import native_errors
from recordmill.shards.open import DEFAULT_MAX_RECORD_BYTES, OpenShard, open_shard
from recordmill.shards.output import ShardOutput, check_payload_size, companion_paths, frame_payloads
from recordmill.shards.paths import Paths, list_paths
from recordmill.shards.sidecar import Sidecar
from recordmill.shards.spanning import group_spanning_files
from recordmill.storage.addresses import check_output_path
from recordmill.storage.base import Storage
from recordmill.storage.choose import choose_storage
from recordmill.suggestions import suggest_arguments
from recordmill.types import FrameIndex, Ragged

# Payloads are copied in groups of at most this many bytes, to limit memory. A larger payload is copied alone.
_PIECE_BYTES = 4 << 20


@dataclass(frozen=True, slots=True)
class SalvageResult:
    """Result of `salvage`: the records that were copied and the byte ranges that were lost.

    Parameters
    ----------
    num_records : int
        Number of copied records.
    num_bytes : int
        Uncompressed size of the new shards.
    paths : list of str
        Paths of the new shards, in the order of the sources.
    lost : list of LostRange
        Lost ranges in the order of shards and offsets, at most 10,000 per shard.
    num_lost_ranges : int
        Number of all lost ranges.
    num_lost_records : int
        Number of records in all lost ranges.
    is_exact : bool
        Whether `num_lost_records` is exact. Otherwise it is an estimate.
    warnings : list of str
        One message for each index that could not be written beside its new shard. `salvage` also emits each message as
        a RuntimeWarning.
    """

    num_records: int = 0
    num_bytes: int = 0
    paths: list[str] = field(default_factory=list)
    lost: list[LostRange] = field(default_factory=list)
    num_lost_ranges: int = 0
    num_lost_records: int = 0
    is_exact: bool = True
    warnings: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """True if nothing was lost."""
        return self.num_lost_ranges == 0

    def to_json(self) -> dict[str, Any]:
        """Return the result as a dict that can be written as JSON.

        Returns
        -------
        dict
            ``{"ok", "num_records", "num_bytes", "paths", "num_lost_ranges", "num_lost_records", "is_exact", "lost",
            "warnings"}``
        """
        return {
            "ok": self.ok,
            "num_records": self.num_records,
            "num_bytes": self.num_bytes,
            "paths": self.paths,
            "num_lost_ranges": self.num_lost_ranges,
            "num_lost_records": self.num_lost_records,
            "is_exact": self.is_exact,
            "lost": [lost.to_json() for lost in self.lost],
            "warnings": self.warnings,
        }


@suggest_arguments
def salvage(  # noqa: PLR0913 (the options of one command)
    source: Paths,
    destination: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002
    compression: str | None = None,
    compression_level: int = -1,
    source_format: str | None = None,
    source_compression: str | None = "auto",
    payload: str | None = "auto",
    overwrite: bool = False,
    index: IndexMode = "auto",
    break_lock: bool = False,
    max_decompressed_bytes: int | None = None,
    max_record_bytes: int = DEFAULT_MAX_RECORD_BYTES,
) -> SalvageResult:
    """Copy all intact records of damaged shards to new shards, and report what was lost.

    Payloads are copied unchanged, even if the new shards have another format. There is one new shard per source file; a
    file without an intact record results in an empty shard, or in none if the format cannot store empty shards. Nothing
    is written if there is no intact record at all. The sources and the files beside them are not changed.

    Records after damage are found by means of the sidecar index, if the shard has one, and otherwise by the checksums
    of TFRecord or the magic words of RecordIO. In OFRecord without an index, records after a damaged length are lost.

    Parameters
    ----------
    source : path, pattern, directory, or iterable of them
        The damaged shards. Intact shards among them are copied as well.
    destination : path
        Prefix of the names of the new shards, or the name of a single shard.
    format : str, optional
        Format of the new shards, such as "tfrecord", "ofrecord" or "recordio"; by default derived from the suffix of
        `destination`, else the format of the sources.
    compression : str, optional
        Compression of the new shards (TFRecord only). Either "gzip" or "zlib".
    compression_level : int
        Level from 0 to 9, or -1 for the default of the compression.
    source_format : str, optional
        Format of the sources; detected from the content by default. Needed if the beginning of a shard is damaged and
        its name does not show the format.
    source_compression : str or None
        Compression of the sources; "auto" detects it from their content. One of "auto", "gzip" or "zlib".
    payload : str or None
        Codec with which payloads are checked. "auto" checks only payloads without a checksum: if at least three
        quarters of them can be parsed, the others are treated as damaged. With a name, all payloads are checked; with
        None, no payloads are checked. One of "auto", "example", "sequence_example", "ofrecord", "irheader" or "raw".
    overwrite : bool
        Whether to replace existing shards.
    index : str
        "auto" stores a sidecar index beside each new shard, with the schema of the writer if the sources had one. With
        "never", the first `open` builds the index.
    break_lock : bool
        Whether to write even if a process of another machine has locked the destination.
    max_decompressed_bytes : int, optional
        Maximum size of a compressed source after decompression, in bytes; the rest is reported as lost. The default is
        64 MiB or 250 times the file size, whichever is larger.
    max_record_bytes : int, default 1073741824
        Maximum length of a payload in bytes. A longer record is reported as lost.

    Returns
    -------
    SalvageResult

    Raises
    ------
    OutputExistsError
        If a shard with one of the new names exists and `overwrite` is False.
    IncompleteDatasetError
        If the writer of the sources was interrupted; `repair` completes its work.
    InputError
        If the destination is one of the sources, or if its format cannot store one of the records. No shard is written.
    ShardChangedError
        If a source changes while it is read. No shard is written.
    WriteError
        If the folder is not writable or the disk is full. No shard is written.
    FileNotFoundError
        If a source does not exist.
    ValueError
        If an option is invalid, or if the sources have different formats and none is chosen for the new shards.

    Examples
    --------
    >>> content = bytearray(Path("train.tfrecord").read_bytes())
    >>> content[20] ^= 1
    >>> Path("damaged.tfrecord").write_bytes(content) == len(content)
    True
    >>> result = rm.salvage("damaged.tfrecord", "rescued.tfrecord")
    >>> result.num_records, result.num_lost_records, result.lost[0].kind
    (7, 1, 'payload_checksum')
    """
    target = check_output_path(destination)
    if not target:
        raise ValueError("destination must not be empty: it is the prefix of the shard names, such as 'rescued/train'")
    options = {
        "format": source_format,
        "compression": source_compression,
        "max_decompressed_bytes": max_decompressed_bytes,
        "max_record_bytes": max_record_bytes,
    }
    shard_options = ShardOptions(compression, compression_level, overwrite, index, break_lock)
    names = list_paths(source)
    storage = choose_storage([*names, target], for_writing=True)
    return salvage_shards(storage, names, target, format, shard_options, options, payload)


def salvage_shards(
    storage: Storage,
    source: Paths,
    destination: str,
    format_name: str | None,
    shard_options: ShardOptions,
    options: Mapping[str, Any],
    payload: str | None,
) -> SalvageResult:
    """Copy the intact records of shards to new shards; `options` are keyword arguments of `open_shard`."""
    selection = select_shards(source, storage)
    selection.raise_if_interrupted(storage)
    files = selection.files
    format_ = _choose_format(storage, destination, format_name, files, options)
    dataset = DatasetOutput(storage, destination, format_, shard_options)
    try:
        paths = dataset.shard_paths(len(files))
        check_no_source(storage, files, [*paths, *dataset.find_other_shards(paths)])
        dataset.check_not_existing(paths)
        dataset.remove_leftover_files()
        result = _Salvage(storage, selection, dataset, format_, options, payload).run()
    except BaseException:
        dataset.discard()
        raise
    return _add_missing_shards(result, selection)


def _add_missing_shards(result: SalvageResult, selection: Selection) -> SalvageResult:
    """Add a lost range for each shard that is missing according to the manifest or the shard names."""
    counts = selection.count_missing_records()
    lost = [
        LostRange(path, 0, None, "missing_shard", "the shard does not exist", counts.get(path, 1), path in counts)
        for path in selection.missing
    ]
    return replace(
        result,
        lost=lost + result.lost,
        num_lost_ranges=len(lost) + result.num_lost_ranges,
        num_lost_records=sum(shard.num_records for shard in lost) + result.num_lost_records,
        is_exact=result.is_exact and all(shard.is_exact for shard in lost),
    )


def _choose_format(
    storage: Storage, destination: str, name: str | None, files: Sequence[str], options: Mapping[str, Any]
) -> Format:
    """Choose the format of the new shards.

    Use `name` if it is not None. Otherwise, use the suffix of the destination, or else the format of the sources.
    """
    if name is not None:
        return get_format(name)
    stem = destination.removesuffix(".gz").removesuffix(".zlib")
    for format_ in FORMATS.values():
        if stem.endswith(format_.suffixes):
            return format_
    found = {shard.format.name: shard.format for shard in _open_readable_shards(storage, files, options)}
    if len(found) > 1:
        names = ", ".join(sorted(found))
        raise ValueError(f"the sources have different formats ({names}); set format= for the new shards")
    return next(iter(found.values()), next(iter(FORMATS.values())))


def _open_readable_shards(storage: Storage, files: Sequence[str], options: Mapping[str, Any]) -> Iterator[OpenShard]:
    for path in files:
        try:
            yield open_shard([path], **options, storage=storage)
        except RecordmillError:
            continue  # The result reports this file as lost.


def check_no_source(storage: Storage, sources: Sequence[str], replaced: Sequence[str]) -> None:
    """Raise InputError if the new shards would replace a source, or a file that belongs to a source."""
    kept = {_find_file_id(storage, path): source for source in sources for path in _list_shard_files(source)}
    kept.pop(None, None)
    for path in replaced:
        for name in _list_shard_files(path):
            if (source := kept.get(_find_file_id(storage, name))) is not None:
                raise InputError(
                    "the destination would replace one of the sources, or a file beside a source",
                    kind="same_file",
                    shard=source,
                    found=name,
                    hint="choose another destination",
                )


def _find_file_id(storage: Storage, path: str) -> tuple[int | str, ...] | None:
    """Return the `file_id` that the storage assigns to a file; return None if the file has no id or does not exist."""
    try:
        return storage.stat(path).file_id or None
    except OSError:
        return None


def _list_shard_files(path: str) -> list[str]:
    """Return the path of a shard, and the paths of all files that may belong to the shard."""
    return [path, *dict.fromkeys(file for format_ in FORMATS.values() for file in companion_paths(path, format_))]


class _Salvage:
    """One run of `salvage`: copies file after file, and commits all new shards together."""

    def __init__(
        self,
        storage: Storage,
        selection: Selection,
        dataset: DatasetOutput,
        format_: Format,
        options: Mapping[str, Any],
        payload: str | None,
    ) -> None:
        self._storage, self._selection, self._dataset, self._format = storage, selection, dataset, format_
        self._options, self._payload = options, payload
        self._paths = dataset.shard_paths(len(selection.files))
        self._lost: list[LostRanges] = []
        # Schema, payload codec and class names that the writer saved, for each shard with intact records.
        self._schemas: list[tuple[Schema | None, str | None]] = []
        self._classes: list[list[str] | None] = []

    def run(self) -> SalvageResult:
        for files in group_spanning_files(self._selection.files, self._options, self._storage):
            self._copy_intact_records(files)
        outputs = self._dataset.outputs
        if any(output.num_records for output in outputs):
            self._commit()
        else:
            self._dataset.discard()
            outputs = []
        return SalvageResult(
            num_records=sum(output.num_records for output in outputs),
            num_bytes=sum(output.num_bytes for output in outputs),
            paths=[output.path for output in outputs],
            lost=[found for lost in self._lost for found in lost.ranges],
            num_lost_ranges=sum(lost.num_ranges for lost in self._lost),
            num_lost_records=sum(lost.num_records for lost in self._lost),
            is_exact=all(lost.is_exact for lost in self._lost),
            warnings=[text for output in outputs for text in output.warnings],
        )

    def _commit(self) -> None:
        outputs, (schema, payload) = self._dataset.outputs, self._schemas[0]
        if schema is None or any(known != (schema, payload) for known in self._schemas):
            schema = payload = None
        classes = find_classes(self._storage, self._selection.files, self._selection.classes, self._classes)
        self._dataset.rename_shards(outputs)
        self._dataset.commit(outputs, DatasetDescription(schema, payload, classes))

    def _copy_intact_records(self, files: Sequence[str]) -> None:
        """Copy the intact records of one file, or of several files if a record continues in the next file."""
        try:
            shard = open_shard(files, **self._options, storage=self._storage)
            records = find_intact_records(shard, self._payload)
        except ShardChangedError:
            raise
        except RecordmillError as error:
            self._lost.append(_describe_unreadable(self._storage, files, error))
            for _ in files:
                self._create_next_shard(num_records=0)
            return
        self._lost.append(find_lost_ranges(records))
        if len(records.frames):
            sidecar = records.inspection.sidecar
            self._schemas.append(_find_writer_schema(sidecar))
            self._classes.append(None if sidecar is None else sidecar.classes)
        keys = self._find_keys(records)
        for start, stop in _split_records_by_file(shard, records.frames):
            output = self._create_next_shard(stop - start)
            if output is not None:
                for rows in _split_into_pieces(records.frames, start, stop):
                    self._copy_payloads(records, rows, output, keys)
                output.finish()

    def _create_next_shard(self, num_records: int) -> ShardOutput | None:
        """Create the next output shard; return None if it would be empty and the format forbids empty shards."""
        if not num_records and self._format.framing.min_payload_bytes:
            return None
        output = self._dataset.create_shard(self._paths[len(self._dataset.outputs)])
        if not num_records:
            output.finish()
        return output

    def _copy_payloads(self, records: IntactRecords, rows: slice, output: ShardOutput, keys: list[str] | None) -> None:
        shard, frames = records.inspection.shard, records.frames[rows]
        with native_errors(shard.name):
            blocks = _core.fetch(shard.source, shard.format.framing.kind, frames.offsets, frames.lengths)
        payloads = Ragged.from_blocks(*blocks)
        self._check_payload_sizes(records, rows.start, np.diff(payloads.row_splits))
        output.append(frame_payloads(output.format, payloads), None if keys is None else keys[rows])

    def _check_payload_sizes(self, records: IntactRecords, first: int, lengths: NDArray[np.int64]) -> None:
        """Raise InputError if the format of the destination cannot store one of the payloads."""
        inspection = records.inspection
        for row in (int(lengths.argmax()), int(lengths.argmin())):
            try:
                check_payload_size(self._format, int(lengths[row]), row)
            except (LimitError, FramingError) as error:
                offset = int(records.frames.offsets[first + row])
                raise InputError(
                    error.message,
                    kind=error.kind,
                    shard=inspection.shard.name,
                    record=inspection.find_ordinal(offset),
                    offset=offset,
                    expected=error.expected,
                    found=error.found,
                    hint="choose another format for the new shards with format=...",
                ) from None

    def _find_keys(self, records: IntactRecords) -> list[str] | None:
        """Return the keys of the intact records in the index file; None if a key is missing or keys are not needed."""
        shard = records.inspection.shard
        if not self._format.index_on_write or len(shard.paths) > 1:
            return None
        try:
            known = read_foreign_index(shard)
        except FormatError:
            return None
        keys = {} if known is None else dict(zip(known[1], known[0], strict=True))
        found = [keys.get(offset) for offset in records.frames.offsets.tolist()] if keys else [None]
        return None if None in found else [key for key in found if key is not None]


def _find_writer_schema(sidecar: Sidecar | None) -> tuple[Schema | None, str | None]:
    """Return the schema and the payload codec that the writer of a shard has saved."""
    if sidecar is None or sidecar.is_inferred or sidecar.schema is None:
        return None, None
    return sidecar.schema, sidecar.payload


def _split_records_by_file(shard: OpenShard, frames: FrameIndex) -> list[tuple[int, int]]:
    """Return one range of records per file of a shard. A record belongs to the file in which it begins."""
    num_bytes = [shard.storage.stat(path).num_bytes for path in shard.paths]
    splits = np.searchsorted(frames.offsets, np.cumsum(num_bytes)[:-1]).tolist()
    return list(zip([0, *splits], [*splits, len(frames)], strict=True))


def _split_into_pieces(frames: FrameIndex, start: int, stop: int) -> Iterator[slice]:
    """Split a range of records into pieces of at most `_PIECE_BYTES`. A larger record is a separate piece."""
    ends = np.cumsum(frames.lengths)
    while start < stop:
        end = int(np.searchsorted(ends, ends[start] - frames.lengths[start] + _PIECE_BYTES, side="right"))
        end = min(max(end, start + 1), stop)
        yield slice(start, end)
        start = end


def _describe_unreadable(storage: Storage, files: Sequence[str], error: RecordmillError) -> LostRanges:
    """Return one lost range for each file; `error` is the reason why the files cannot be read."""
    reason = str(error).splitlines()[0]
    if error.hint is not None:
        # The hint names the arguments `format` and `compression` of `open_shard`. In `salvage`, these arguments are
        # `source_format` and `source_compression`.
        reason += "; " + re.sub(r"\b(format|compression)=", r"source_\1=", error.hint)
    ranges = [
        LostRange(
            path, 0, None if num_bytes else 0, error.kind or "unreadable", reason, int(num_bytes > 0), not num_bytes
        )
        for path, num_bytes in ((path, storage.stat(path).num_bytes) for path in files)
    ]
    num_records = sum(lost.num_records for lost in ranges)
    return LostRanges(ranges, len(ranges), num_records, all(lost.is_exact for lost in ranges))
