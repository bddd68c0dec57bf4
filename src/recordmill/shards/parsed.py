"""Parse payloads to columns. Divide the records if the data type of a feature differs between them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill import _core
from recordmill.errors import PayloadError
from recordmill.formats.base import InferredFeatures, PayloadCodec
from recordmill.formats.raw import RAW
from recordmill.schema import Feature, Schema
from recordmill.shards.native_errors import native_errors
from recordmill.types import Ragged


@dataclass(slots=True)
class Column:
    """One feature of several records, in the form that the native parser returns and the serializer takes.

    Parameters
    ----------
    feature : Feature
    values : buffer, or (buffer of uint8, buffer of int64)
        Values of all records. Byte strings are a pair of concatenated bytes and row splits.
    row_splits, frame_splits : buffer of int64 or None
        Boundaries of the records, and of the frames of sequences; None if all records have `feature.count` values.
    present : ndarray of uint8 or None
        Non-zero for each record that has the feature; None if all records have it.
    """

    feature: Feature
    values: Any
    row_splits: Any = None
    frame_splits: Any = None
    present: NDArray[np.uint8] | None = None

    def strings(self) -> Ragged:
        """Return the byte strings of all records, one after another."""
        data, splits = self.values
        return Ragged(np.frombuffer(data, np.uint8), np.frombuffer(splits, np.int64))

    def numbers(self) -> NDArray[Any]:
        """Return the numeric values of all records as one array."""
        return np.frombuffer(self.values, self.feature.kind)

    def counts(self, num_records: int) -> NDArray[np.int64]:
        """Return the number of values in each record; for sequence features, the number of sequence frames."""
        if self.row_splits is None:
            return np.full(num_records, self.feature.count or 0, np.int64)
        splits = np.frombuffer(self.row_splits, np.int64)
        return splits[1:] - splits[:-1]


@dataclass(slots=True)
class ParsedRecords:
    """Consecutive records as columns.

    Parameters
    ----------
    num_records : int
    columns : dict of str to Column
    has_label_arrays : bool
        Whether image records store even single labels after the header.
    """

    num_records: int
    columns: dict[str, Column]
    has_label_arrays: bool = False

    @property
    def schema(self) -> Schema:
        """Schema with the feature of each column."""
        return Schema({name: column.feature for name, column in self.columns.items()})


def parse_exactly(codec: PayloadCodec, payloads: Ragged, names: Collection[str] | None = None) -> list[ParsedRecords]:
    """Parse payloads to columns; `names` selects the features to parse.

    The result has several elements if the kind of a feature changes between records, or if some records lack a feature
    that is an empty list in others.

    Raises
    ------
    PayloadError
        If a payload is not a valid message.
    """
    if codec is RAW:
        column = Column(Feature("bytes"), (payloads.data, payloads.row_splits))
        return [ParsedRecords(len(payloads), {"payload": column})]
    found = codec.infer_features(payloads)
    if found.fault is not None:
        raise PayloadError(f"the payload is not a valid {codec.name} message: {found.fault}", kind="bad_payload")
    if len(payloads) > 1 and _needs_several_schemas(found, names):
        return _parse_in_halves(codec, payloads, names)
    parsed = _parse_columns(codec, payloads, found.schema, names)
    for name, column in parsed.columns.items():
        num_present = found.features[name].num_present
        if num_present < len(payloads):
            column.present = (column.counts(len(payloads)) > 0).astype(np.uint8) if num_present else None
    if codec.name == "irheader":
        flags = _parse_columns(codec, payloads, Schema({"flag": Feature("int64")}), None).columns["flag"].numbers() > 0
        if flags.any() and not flags.all():
            return _parse_in_halves(codec, payloads, names)
        parsed.has_label_arrays = bool(flags.any())
    return [parsed]


def _parse_in_halves(codec: PayloadCodec, payloads: Ragged, names: Collection[str] | None) -> list[ParsedRecords]:
    middle = len(payloads) // 2
    return parse_exactly(codec, payloads[:middle], names) + parse_exactly(codec, payloads[middle:], names)


def _needs_several_schemas(found: InferredFeatures, names: Collection[str] | None) -> bool:
    return any(
        summary.mixed_kinds
        or (summary.num_present < found.num_records and (summary.counts[0] == 0 or summary.feature.sequence))
        for name, summary in found.features.items()
        if names is None or name in names
    )


def _parse_columns(
    codec: PayloadCodec, payloads: Ragged, schema: Schema, names: Collection[str] | None
) -> ParsedRecords:
    if names is not None:
        schema = Schema({name: feature for name, feature in schema.items() if name in names})
    with native_errors("the source"):
        entries = _core.parse(payloads.data, payloads.row_splits, codec.compile_schema(schema))
    pairs = zip(schema.items(), entries, strict=True)
    return ParsedRecords(len(payloads), {name: Column(feature, *entry) for (name, feature), entry in pairs})
