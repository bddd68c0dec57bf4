"""Payload codecs whose bytes the native module parses and writes: what they have in common."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from recordmill import _core
from recordmill.errors import FeatureError
from recordmill.formats.base import FeatureSummary, Inference
from recordmill.formats.values import column
from recordmill.schema import Feature, Kind, Schema
from recordmill.types import Ragged

_CONTEXT = "context/"


@dataclass(frozen=True, slots=True)
class NativeCodec:
    """One message type.

    Parameters
    ----------
    name : str
    kind : _core.PayloadKind
    kinds : tuple of str
        Kinds of values that the message can hold.
    """

    name: str
    kind: _core.PayloadKind
    kinds: tuple[Kind, ...]

    @property
    def shows_itself(self) -> bool:
        """Other bytes are hardly ever such a message."""
        return True

    def key(self, name: str, schema: Schema) -> bytes:
        """Key in the message of a feature: its name, but for a context feature named like a feature list."""
        stripped = name.removeprefix(_CONTEXT)
        if stripped != name and stripped in schema and schema[stripped].sequence and not schema[name].sequence:
            name = stripped
        return name.encode("utf-8", "surrogateescape")

    def plan(self, schema: Schema) -> _core.Plan:
        """Compile the features of a schema for the native parser.

        Parameters
        ----------
        schema : Schema

        Returns
        -------
        _core.Plan

        Raises
        ------
        FeatureError
            A kind that the message cannot hold.
        """
        wanted = []
        for name, feature in schema.items():
            if feature.kind not in self.kinds:
                expected = " or ".join(self.kinds)
                message = f"feature {name!r} cannot be read from a payload of type {self.name}"
                raise FeatureError(message, kind="feature_mismatch", expected=expected, found=feature.kind)
            wanted.append(
                (self.key(name, schema), feature.sequence, feature.kind, feature.count, _missing(name, feature))
            )
        try:
            return _core.Plan(self.kind, wanted)
        except _core.CoreFault as error:
            raise _refused(error) from None

    def columns(self, parsed: Sequence[Any], schema: Schema, num_records: int) -> dict[str, Any]:
        """Name and shape what the native parser brought.

        Parameters
        ----------
        parsed : sequence of (values, row_splits, frame_splits)
            Values of bytes are (data, splits), or a list.
        schema : Schema
        num_records : int

        Returns
        -------
        dict of str to ndarray or Ragged
            Dense features ``(num_records, *shape)``. Byte strings are rows of a Ragged of uint8, or a list of `bytes`
            where that is what was brought.
        """
        pairs = zip(schema.items(), parsed, strict=True)
        return {name: _shaped(feature, entry, num_records) for (name, feature), entry in pairs}

    def parse(self, payloads: Ragged, schema: Schema) -> dict[str, Any]:
        """Columns of payloads in a buffer.

        Parameters
        ----------
        payloads : Ragged of uint8
        schema : Schema

        Returns
        -------
        dict of str to ndarray or Ragged
        """
        parsed = _core.parse(payloads.data, payloads.row_splits, self.plan(schema))
        return self.columns(parsed, schema, len(payloads))

    def serialize(
        self, examples: Sequence[Mapping[str, Any]], schema: Schema | None, first: int, known: Schema | None = None
    ) -> Ragged:
        """Canonical payloads of examples.

        Parameters
        ----------
        examples : sequence of mapping
            Values per feature name.
        schema : Schema or None
            Kinds and shapes that the values must have.
        first : int
            Position of the first example.
        known : Schema, optional
            Where there is no schema: kinds of features that have no value here, or integers instead of floats.

        Returns
        -------
        Ragged of uint8

        Raises
        ------
        FeatureError
            A value that the message cannot hold, or that the schema forbids.
        """
        del first
        names = dict.fromkeys(name for example in examples for name in example)
        if schema is not None:
            _check_names(names, schema)
        columns = []
        for name in names:
            values = [example.get(name) for example in examples]
            if any(value is not None for value in values):
                feature = None if schema is None else schema[name]
                usual = known[name].kind if known is not None and name in known else "int64"
                columns.append(column(name, values, feature, self.kinds, usual))
        return self.write_columns(len(examples), columns)

    def write_columns(self, num_records: int, columns: list[Any]) -> Ragged:
        """Canonical payloads of columns."""
        try:
            data, row_splits = _core.serialize(self.kind, num_records, columns)
        except _core.CoreFault as error:
            raise _refused(error) from None
        return Ragged.from_blocks(data, row_splits)

    def infer(self, payloads: Ragged) -> Inference:
        """Features that some payloads have.

        Parameters
        ----------
        payloads : Ragged of uint8

        Returns
        -------
        Inference
        """
        rows, fault = _core.survey(self.kind, payloads.data, payloads.row_splits)
        num_records = len(payloads) if fault is None else int(fault[1] or 0)
        lists = {row[0] for row in rows if row[1] and row[2] is not None}
        features = {}
        for key, sequence, kind, mixed, num_present, counts, _, num_bytes in rows:
            if kind is None:
                continue
            name = key.decode("utf-8", "surrogateescape")
            if not sequence and key in lists:
                name = _CONTEXT + name
            feature = _narrowest(kind, sequence, num_present < num_records, counts)
            features[name] = FeatureSummary(feature, num_present, counts, num_bytes if kind == "bytes" else None, mixed)
        return Inference(num_records, features, None if fault is None else fault[5])

    def fits(self, payloads: Ragged) -> bool:
        """Whether all payloads parse, and show features unless all are empty."""
        found = self.infer(payloads)
        return found.fault is None and (bool(found.features) or not len(payloads.data))


def _narrowest(kind: Kind, sequence: bool, lacking: bool, counts: tuple[int, int]) -> Feature:
    least, most = counts
    per_row: tuple[int | None, ...] = (None,) if least != most else () if most == 1 else (most,)
    if sequence:
        return Feature(kind, (None, *per_row), sequence=True, optional=lacking)
    return Feature(kind, (None,), optional=True) if lacking else Feature(kind, per_row)


def _refused(fault: _core.CoreFault) -> FeatureError:
    kind, _, _, expected, found, message = fault.args
    return FeatureError(message, kind=kind, expected=expected, found=found)


def _missing(name: str, feature: Feature) -> Any:
    if feature.default is None:
        return "empty" if feature.optional else "error"
    return column(name, [feature.default], feature, (feature.kind,)).values


def _check_names(names: Mapping[str, None], schema: Schema) -> None:
    unknown = [name for name in names if name not in schema]
    lacking = [
        name
        for name, feature in schema.items()
        if name not in names and not feature.optional and feature.default is None
    ]
    if unknown or lacking:
        message = "the example does not have the features of the schema"
        raise FeatureError(
            message, kind="feature_mismatch", expected=", ".join(schema), found=", ".join(names) or "no feature"
        )


def _shaped(feature: Feature, entry: Any, num_records: int) -> Any:
    values, row_splits, frame_splits = entry
    if feature.kind != "bytes":
        flat: Any = np.frombuffer(values, feature.kind)
    else:
        flat = values if isinstance(values, list) else Ragged.from_blocks(*values)
    if feature.shape == ():
        return flat
    rest = feature.shape[1:] if feature.sequence else feature.shape
    if frame_splits is not None:
        flat = Ragged(flat, np.frombuffer(frame_splits, np.int64))
    elif feature.sequence:
        flat = _dense(flat, len(flat) // max(feature.count or 1, 1), rest)
    if row_splits is not None:
        return Ragged(flat, np.frombuffer(row_splits, np.int64))
    return _dense(flat, num_records, rest)


def _dense(flat: Any, num_rows: int, shape: tuple[int | None, ...]) -> Any:
    if shape == ():
        return flat
    if isinstance(flat, list):
        flat = Ragged.from_rows(flat)
    if isinstance(flat, Ragged):
        count = math.prod(size or 0 for size in shape)
        return Ragged(flat, np.arange(num_rows + 1, dtype=np.int64) * count)
    return flat.reshape(num_rows, *shape)
