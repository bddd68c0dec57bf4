"""The function `diff`, which compares the records and schemas of two datasets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from recordmill.schema import Schema
from recordmill.shards.index import find_sidecar
from recordmill.shards.inference import detect_payload, infer_features
from recordmill.shards.native_errors import native_errors
from recordmill.shards.open import DEFAULT_MAX_RECORD_BYTES
from recordmill.shards.paths import Paths, list_paths
from recordmill.shards.payloads import list_complete_files, open_readers
from recordmill.shards.reader import ShardReader, records_per_read
from recordmill.shards.record_hashes import RecordHashes, Rows, iterate_unmatched
from recordmill.storage.addresses import describe_path
from recordmill.storage.choose import choose_storage
from recordmill.suggestions import suggest_arguments

# Maximum number of differing records that a result lists for each of the two datasets.
_MAX_LISTED = 10


@dataclass(frozen=True, slots=True)
class DiffResult:
    """Result of `diff`: how two datasets, `a` and `b`, differ.

    Parameters
    ----------
    num_records : (int, int)
        Number of records of `a` and of `b`.
    payloads : (str or None, str or None)
        Payload codecs; None for a dataset without records.
    num_only_in_a, num_only_in_b : int
        Number of records without an equal record in the other dataset.
    only_in_a, only_in_b : list of (str, int)
        Shard and position of the first ten of these records.
    same_order : bool
        True if both have the same records in the same order.
    schema_differences : dict of str to (str or None, str or None)
        For each feature that differs, its description in `a` and in `b`; None where it is missing. Schemas that were
        inferred from the first records are compared only if the records differ, because such schemas depend on the
        order of the records.
    """

    num_records: tuple[int, int]
    payloads: tuple[str | None, str | None]
    num_only_in_a: int = 0
    num_only_in_b: int = 0
    only_in_a: list[tuple[str, int]] = field(default_factory=list)
    only_in_b: list[tuple[str, int]] = field(default_factory=list)
    same_order: bool = True
    schema_differences: dict[str, tuple[str | None, str | None]] = field(default_factory=dict)

    @property
    def equal(self) -> bool:
        """True if `a` and `b` have the same records, in any order, and `schema_differences` is empty."""
        return not (self.num_only_in_a or self.num_only_in_b or self.schema_differences)

    def to_json(self) -> dict[str, Any]:
        """Return the result as a dict that can be written as JSON.

        Returns
        -------
        dict
        """
        names = ("num_records", "payloads", "num_only_in_a", "num_only_in_b", "only_in_a", "only_in_b")
        plain: dict[str, Any] = {"equal": self.equal} | {name: getattr(self, name) for name in names}
        return plain | {"same_order": self.same_order, "schema_differences": self.schema_differences}

    def __str__(self) -> str:
        """Return the differences, one per line."""
        lines = [f"{self.num_records[0]:,} and {self.num_records[1]:,} records: {self._summarize_records()}"]
        for name, (first, second) in self.schema_differences.items():
            lines.append(f"schema: {name}: {first or 'missing'} in a, {second or 'missing'} in b")
        for side, listed, count in (
            ("a", self.only_in_a, self.num_only_in_a),
            ("b", self.only_in_b, self.num_only_in_b),
        ):
            lines += [f"only in {side}: {shard}, record {record}" for shard, record in listed]
            lines += [f"only in {side}: {count - len(listed):,} more"] if count > len(listed) else []
        return "\n".join(lines)

    def _summarize_records(self) -> str:
        if self.num_only_in_a or self.num_only_in_b:
            return f"{self.num_only_in_a:,} only in a, {self.num_only_in_b:,} only in b"
        return "the same in the same order" if self.same_order else "the same in another order"


@suggest_arguments
def diff(
    a: Paths,
    b: Paths,
    *,
    verify: bool = True,
    allow_incomplete: bool = False,
    max_decompressed_bytes: int | None = None,
    max_record_bytes: int = DEFAULT_MAX_RECORD_BYTES,
) -> DiffResult:
    """Compare the schemas of two datasets, and their records by the hashes of the payloads.

    Order, shards, framing and compression do not matter. The memory is bounded: beyond 262,144 records, hashes are
    kept in temporary files, 28 bytes per record.

    Parameters
    ----------
    a, b : path, pattern, directory, prefix, or iterable of them
        The shards of each dataset, as in `open`.
    verify : bool, default True
        Check all checksums that the formats have.
    allow_incomplete : bool, default False
        Compare the remaining shards of a dataset even if some are missing, do not belong to it, or were replaced.
    max_decompressed_bytes : int, optional
        Maximum size of a compressed shard after decompression, in bytes, as in `open`.
    max_record_bytes : int, default 1073741824
        Maximum length of a payload in bytes; a longer one raises `LimitError`.

    Returns
    -------
    DiffResult

    Raises
    ------
    DamageError
        If a record is damaged.

    Examples
    --------
    >>> result = rm.diff("train.tfrecord", "train.tfrecord")
    >>> result.equal, result.num_records
    (True, (8, 8))
    """
    limits = {"max_decompressed_bytes": max_decompressed_bytes, "max_record_bytes": max_record_bytes}
    sides = [_HashedDataset(list_paths(paths), allow_incomplete=allow_incomplete) for paths in (a, b)]
    with sides[0].hashes as first, sides[1].hashes as second:
        for side in sides:
            side.hash_records(limits, verify=verify)
        only: tuple[list[Rows], list[Rows]] = ([], [])
        counts = [0, 0]
        for unmatched in iterate_unmatched(first, second):
            for number, rows in enumerate(unmatched):
                counts[number] += len(rows)
                only[number].append(_select_rows_to_list(rows))
        listed = [
            side.locate_records(_select_rows_to_list(np.concatenate(rows)))
            for side, rows in zip(sides, only, strict=True)
        ]
        differ = any(counts)
        return DiffResult(
            (first.num_records, second.num_records),
            (sides[0].payload, sides[1].payload),
            counts[0],
            counts[1],
            listed[0],
            listed[1],
            same_order=not differ and first.order_digest == second.order_digest,
            schema_differences=_compare_schemas(*sides, with_inferred=differ),
        )


class _HashedDataset:
    """A dataset that is compared: the hashes of its records, and its schema."""

    def __init__(self, names: list[str], *, allow_incomplete: bool) -> None:
        self._storage = choose_storage(names)
        self._files = list_complete_files(names, self._storage, allow_incomplete=allow_incomplete)
        self._shards = list[str]()
        self.hashes = RecordHashes()
        self.payload: str | None = None
        self.schema: Schema = Schema({})
        self.is_inferred = True

    def hash_records(self, options: Mapping[str, Any], *, verify: bool) -> None:
        """Hash all records."""
        for number, reader in enumerate(open_readers(self._files, options, self._storage, verify=verify)):
            self._shards.append(describe_path(reader.path))
            record = 0
            for batch in reader.batches(records_per_read(reader.shard)):
                if self.payload is None:
                    self._read_schema(reader, verify=verify)
                for payload in batch:
                    self.hashes.add(payload, number, record)
                    record += 1

    def _read_schema(self, reader: ShardReader, *, verify: bool) -> None:
        with native_errors(describe_path(reader.path)):
            found = find_sidecar(reader.shard)
        sidecar = None if found is None else found[0]
        codec = detect_payload(reader.shard, sidecar, verify=verify)
        self.payload = codec.name
        if sidecar is not None and sidecar.schema is not None and sidecar.payload == codec.name:
            self.schema, self.is_inferred = sidecar.schema, sidecar.is_inferred
        else:
            self.schema = infer_features(reader.shard, codec, sidecar=sidecar, verify=verify).schema

    def locate_records(self, rows: Rows) -> list[tuple[str, int]]:
        """Convert `rows` to pairs of shard path and record position."""
        return [(self._shards[row["shard"]], int(row["record"])) for row in rows]


def _select_rows_to_list(rows: Rows) -> Rows:
    return rows[np.lexsort((rows["record"], rows["shard"]))[:_MAX_LISTED]]


def _compare_schemas(
    a: _HashedDataset, b: _HashedDataset, *, with_inferred: bool
) -> dict[str, tuple[str | None, str | None]]:
    if None in (a.payload, b.payload) or ((a.is_inferred or b.is_inferred) and not with_inferred):
        return {}
    texts = [{name: str(feature) for name, feature in side.schema.items()} for side in (a, b)]
    names = dict.fromkeys([*texts[0], *texts[1]])
    pairs = {name: (texts[0].get(name), texts[1].get(name)) for name in names}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}
