"""Batches of records, and a parser for one feature. The parser's errors name the record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

import recordmill as rm
from recordmill.errors import FeatureError, PayloadError, RecordmillError
from recordmill.schema import Kind
from recordmill.types import Ragged

# Maps the name of each list message to the dtype of its values. A feature contains one of these messages.
_KINDS: dict[str, Kind] = {
    "bytes_list": "bytes",
    "float_list": "float32",
    "double_list": "float64",
    "int32_list": "int32",
    "int64_list": "int64",
}
_LISTS = {kind: name for name, kind in _KINDS.items()}


@dataclass(frozen=True, slots=True)
class Location:
    """Location of a record: path of the part, position in the part, and byte offset."""

    shard: str
    record: int
    offset: int


@dataclass(frozen=True, eq=False, slots=True)
class RecordBatch:
    """A batch of records, the input of decoders.

    Decoders add the features that they parse to `requested`, which all batches of a reader share. The reader parses
    these features of the next batch in one call and stores them in `parsed`.
    """

    payloads: Ragged
    locations: Sequence[Location]
    requested: dict[str, rm.Feature] = field(default_factory=dict)
    parsed: dict[str, tuple[rm.Feature, Ragged]] = field(default_factory=dict)

    @property
    def shape(self) -> tuple[int]:
        """Shape of the batch: a tuple that contains the number of records."""
        return (len(self.locations),)

    def __len__(self) -> int:
        return len(self.locations)

    def slice(self, start: int, stop: int) -> RecordBatch:
        """Return the records from position `start` to `stop`, exclusive."""
        return RecordBatch(self.payloads[start:stop], self.locations[start:stop])


def copy_with_location(error: RecordmillError, location: Location) -> RecordmillError:
    """Return a copy of the error with `location`, the location of the invalid record."""
    parts = error.parts() | {"shard": location.shard, "record": location.record, "offset": location.offset}
    return type(error)(error.message, **parts)


class FeatureParser:
    """Parses the feature `name` in batches of records."""

    def __init__(self, name: str) -> None:
        self.name = name
        # List kind of the feature in the previous batch, such as "int64_list". The next batch is parsed as this kind.
        self._kind: str | None = None

    def parse_values(self, records: RecordBatch) -> tuple[str, Ragged] | None:
        """Return the list kind, such as ``int64_list``, and one row of values per record.

        Return None if the records must be parsed one by one, for example because their list kinds differ.
        """
        _check_record_batch(records)
        kind = self._kind or self._find_list_kind(records, 0)
        feature: Any = rm.Feature("bytes") if kind == "bytes_list" else rm.Feature(_KINDS[kind], (None,))
        rows = self._parse_feature(records, feature)
        self._kind = None if rows is None else kind
        return None if rows is None else (kind, rows)

    def parse_strings(self, records: RecordBatch) -> Ragged:
        """Return the byte string of every record."""
        _check_record_batch(records)
        rows = self._parse_feature(records, rm.Feature("bytes"))
        if rows is not None:
            return rows
        return Ragged.from_rows([self._parse_string(records, position) for position in range(len(records))])

    def parse_record(self, records: RecordBatch, position: int) -> tuple[str, Any]:
        """Return the list kind of the feature in one record, such as ``int64_list``, and the values of the list.

        For a ``bytes_list``, return its only string, not a list. Raise FeatureError if it has 0 or several strings.
        """
        kind = self._find_list_kind(records, position)
        values = self._parse_list(records, position, kind)
        if kind != "bytes_list":
            return kind, values
        if len(values) != 1:
            check = f"Check failed: feature.bytes_list().value_size() == 1 ({len(values)} vs. 1)"
            self.raise_feature_error(records.locations[position], check, "one byte string", len(values))
        return kind, values[0]

    def raise_feature_error(self, location: Location, message: str, expected: str, found: object) -> NoReturn:
        """Raise a FeatureError that names the feature and the location of its record."""
        error = FeatureError(
            f"{message}, in feature {self.name!r}", kind="feature_mismatch", expected=expected, found=str(found)
        )
        raise copy_with_location(error, location)

    def _parse_feature(self, records: RecordBatch, feature: rm.Feature) -> Ragged | None:
        known = records.parsed.get(self.name)
        if known is not None and known[0] == feature:
            return known[1]
        try:
            rows: Ragged = rm.parse_payloads(records.payloads, {self.name: feature}, payload="ofrecord")[self.name]
        except FeatureError:
            return None
        except PayloadError as error:
            raise copy_with_location(error, records.locations[error.record or 0]) from None
        records.requested[self.name] = feature
        return rows

    def _parse_string(self, records: RecordBatch, position: int) -> bytes:
        kind, value = self.parse_record(records, position)
        if kind != "bytes_list":
            check = "Check failed: feature.has_bytes_list()"
            self.raise_feature_error(records.locations[position], check, "bytes_list", kind)
        found: bytes = value
        return found

    def _find_list_kind(self, records: RecordBatch, position: int) -> str:
        """Return the list kind of the feature in one record, such as ``int64_list``."""
        location = records.locations[position]
        try:
            self._parse_list(records, position, "bytes_list")
        except PayloadError as error:
            raise copy_with_location(error, location) from None
        except FeatureError as error:
            if error.found in _LISTS:
                return _LISTS[error.found]
            if error.found == "no such feature":
                self.raise_feature_error(location, f"Field {self.name} not found", self.name, error.found)
            self.raise_feature_error(location, "UNIMPLEMENTED: the feature has no list", "a list of values", "none")
        return "bytes_list"

    def _parse_list(self, records: RecordBatch, position: int, kind: str) -> Any:
        feature = rm.Feature(_KINDS[kind], (None,))
        payload = [records.payloads[position]]
        return rm.parse_payloads(payload, {self.name: feature}, payload="ofrecord")[self.name][0]


def view_strings(strings: Ragged) -> list[Any]:
    """Return one array per byte string; all arrays are views of one buffer."""
    splits = strings.row_splits
    return [strings.data[splits[row] : splits[row + 1]] for row in range(len(strings))]


def _check_record_batch(records: Any) -> None:
    if not isinstance(records, RecordBatch):
        raise TypeError(f"decoders must be called with the result of a reader, got {type(records).__name__}")
