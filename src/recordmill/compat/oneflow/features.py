"""Parse one feature of a batch of records, and raise errors that name the record."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

import recordmill as rm
from recordmill.compat.oneflow.tensors import Place, Records
from recordmill.errors import FeatureError, PayloadError, RecordmillError
from recordmill.schema import Kind
from recordmill.types import Ragged


def raise_feature_error(
    feature: str, place: Place, message: str, expected: str | None = None, found: str | None = None
) -> NoReturn:
    """Raise a FeatureError about a feature of a record."""
    raise FeatureError(
        f"{message}, in feature {feature!r}",
        kind="feature_mismatch",
        expected=expected,
        found=found,
        shard=place.shard,
        record=place.record,
        offset=place.offset,
    )


def locate_error(error: RecordmillError, place: Place) -> RecordmillError:
    """Copy of an error that names the record."""
    parts: dict[str, Any] = error.parts() | {"shard": place.shard, "record": place.record, "offset": place.offset}
    return type(error)(error.message, **parts)


def raise_unsupported(name: str, value: Any, hint: str) -> NoReturn:
    """Refuse an option by name."""
    raise NotImplementedError(f"{name}={value!r} is not supported: {hint}")


# The kind of value in each list that a feature can hold, and the reverse.
KINDS: dict[str, Kind] = {
    "bytes_list": "bytes",
    "float_list": "float32",
    "double_list": "float64",
    "int32_list": "int32",
    "int64_list": "int64",
}
_LISTS = {kind: name for name, kind in KINDS.items()}


def _need_records(records: Any) -> None:
    if not isinstance(records, Records):
        raise TypeError(f"a decoder is called with the records that a reader gave, not {type(records).__name__}")


class Field:
    """One feature, read for many batches; the kind that it had last is tried first."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._kind: str | None = None

    def values(self, records: Records) -> tuple[str, Ragged] | None:
        """Values of every record as rows, if all records hold one kind, and byte strings one by one."""
        _need_records(records)
        kind = self._kind or self._find_kind(records, 0)
        feature: Any = rm.Feature("bytes") if kind == "bytes_list" else rm.Feature(KINDS[kind], (None,))
        found = self._parsed(records, feature)
        self._kind = None if found is None else kind
        return None if found is None else (kind, found)

    def _parsed(self, records: Records, feature: rm.Feature) -> Ragged | None:
        known = records.parsed.get(self.name)
        if known is not None and known[0] == feature:
            return known[1]
        try:
            found: Ragged = rm.parse_payloads(records.payloads, {self.name: feature}, payload="ofrecord")[self.name]
        except FeatureError:
            return None
        except PayloadError as error:
            raise locate_error(error, records.places[error.record or 0]) from None
        records.wanted[self.name] = feature
        return found

    def strings(self, records: Records) -> Ragged:
        """Byte string of every record."""
        _need_records(records)
        found = self._parsed(records, rm.Feature("bytes"))
        if found is not None:
            return found
        return Ragged.from_rows([self._string(records, position) for position in range(len(records))])

    def _string(self, records: Records, position: int) -> bytes:
        (kind, values), place = self.row(records, position), records.places[position]
        if kind != "bytes_list":
            raise_feature_error(self.name, place, "Check failed: feature.has_bytes_list()", "bytes_list", kind)
        return self.only(values, place)

    def only(self, values: Sequence[bytes], place: Place) -> bytes:
        """Refuse any number of byte strings but one, and return it."""
        if len(values) != 1:
            check = f"Check failed: feature.bytes_list().value_size() == 1 ({len(values)} vs. 1)"
            raise_feature_error(self.name, place, check, "one byte string", str(len(values)))
        return values[0]

    def row(self, records: Records, position: int) -> tuple[str, Any]:
        """Kind and values of one record."""
        kind = self._find_kind(records, position)
        values = self._parse_one(records, position, kind)
        return kind, list(values) if kind == "bytes_list" else values

    def _parse_one(self, records: Records, position: int, kind: str) -> Any:
        feature = rm.Feature(KINDS[kind], (None,))
        payload = [records.payloads[position]]
        return rm.parse_payloads(payload, {self.name: feature}, payload="ofrecord")[self.name][0]

    def _find_kind(self, records: Records, position: int) -> str:
        """Return the name of the list that the feature of one record holds."""
        place = records.places[position]
        try:
            self._parse_one(records, position, "bytes_list")
        except PayloadError as error:
            raise locate_error(error, place) from None
        except FeatureError as error:
            if error.found in _LISTS:
                return _LISTS[error.found]
            if error.found == "no such feature":
                raise_feature_error(self.name, place, f"Field {self.name} not found", self.name, error.found)
            message = "UNIMPLEMENTED: the feature holds no list"
            raise_feature_error(self.name, place, message, "a list of values", "none")
        return "bytes_list"
