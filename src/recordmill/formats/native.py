"""Base class of the codecs whose payloads are parsed and serialized in the native module."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from recordmill import _core
from recordmill.errors import FeatureError, LimitError
from recordmill.formats.base import FeatureSummary, InferredFeatures
from recordmill.formats.values import convert_to_column
from recordmill.schema import Feature, Kind, Schema
from recordmill.types import Ragged

_CONTEXT = "context/"


@dataclass(frozen=True, slots=True)
class NativeCodec:
    """Codec of one message type that the native module parses and serializes.

    Parameters
    ----------
    name : str
    kind : _core.PayloadKind
    kinds : tuple of str
        Feature kinds that the message can hold.
    """

    name: str
    kind: _core.PayloadKind
    kinds: tuple[Kind, ...]

    @property
    def is_recognizable(self) -> bool:
        """Return True: `accepts` can detect this codec, because it rarely accepts payloads of other codecs."""
        return True

    def native_key(self, name: str, schema: Schema) -> bytes:
        """Return the key that a feature has in the serialized messages.

        A context feature with the same key as a feature list is named ``context/KEY``. The name of any other feature is
        its key.
        """
        stripped = name.removeprefix(_CONTEXT)
        if stripped != name and stripped in schema and schema[stripped].sequence and not schema[name].sequence:
            name = stripped
        return name.encode("utf-8", "surrogateescape")

    def compile_schema(self, schema: Schema) -> _core.Plan:
        """Compile a schema to a plan for the native parser.

        Parameters
        ----------
        schema : Schema

        Returns
        -------
        _core.Plan

        Raises
        ------
        FeatureError
            If the message cannot hold a feature of this kind.
        """
        features = []
        for name, feature in schema.items():
            if feature.kind not in self.kinds:
                expected = " or ".join(self.kinds)
                message = f"feature {name!r} cannot be read from a payload of type {self.name}"
                raise FeatureError(message, kind="feature_mismatch", expected=expected, found=feature.kind)
            features.append(
                (
                    self.native_key(name, schema),
                    feature.sequence,
                    feature.kind,
                    feature.count,
                    _choose_missing_value(name, feature),
                )
            )
        try:
            return _core.Plan(self.kind, features)
        except _core.CoreFault as error:
            raise _to_feature_error(error) from None

    def build_columns(self, parsed: Sequence[Any], schema: Schema, num_records: int) -> dict[str, Any]:
        """Convert the output of the native parser to one column per feature.

        Parameters
        ----------
        parsed : sequence of (values, row_splits, frame_splits)
            One entry per feature. The values of byte strings are ``(data, splits)`` or a list.
        schema : Schema
        num_records : int

        Returns
        -------
        dict of str to ndarray or Ragged
            Dense features have the shape ``(num_records, *shape)``. Byte strings are rows of a Ragged of uint8, or a
            list of `bytes` if the parser returned a list.
        """
        pairs = zip(schema.items(), parsed, strict=True)
        return {name: _build_column(feature, entry, num_records) for (name, feature), entry in pairs}

    def parse(self, payloads: Ragged, schema: Schema) -> dict[str, Any]:
        """Parse payloads to one column per feature.

        Parameters
        ----------
        payloads : Ragged of uint8
        schema : Schema

        Returns
        -------
        dict of str to ndarray or Ragged
        """
        parsed = _core.parse(payloads.data, payloads.row_splits, self.compile_schema(schema))
        return self.build_columns(parsed, schema, len(payloads))

    def serialize(
        self, examples: Sequence[Mapping[str, Any]], schema: Schema | None, first: int, known: Schema | None = None
    ) -> Ragged:
        """Serialize examples to canonical payloads.

        Parameters
        ----------
        examples : sequence of mapping
            Values by feature name.
        schema : Schema or None
            Kinds and shapes that the values must have.
        first : int
            Position of the first example.
        known : Schema, optional
            Features of earlier examples, used if there is no schema. New values must have the same kinds.

        Returns
        -------
        Ragged of uint8

        Raises
        ------
        FeatureError
            If the message cannot hold a value, or a value does not match the schema.
        """
        del first
        names = dict.fromkeys(name for example in examples for name in example)
        if schema is not None:
            _check_feature_names(names, schema)
        columns = []
        for name in names:
            values = [example.get(name) for example in examples]
            if any(value is not None for value in values):
                feature = None if schema is None else schema[name]
                columns.append(
                    convert_to_column(name, values, feature, self.kinds, None if known is None else known.get(name))
                )
        return self.serialize_columns(len(examples), columns)

    def serialize_columns(self, num_records: int, columns: list[Any]) -> Ragged:
        """Serialize columns, one per feature, to canonical payloads."""
        try:
            data, row_splits = _core.serialize(self.kind, num_records, columns)
        except _core.CoreFault as error:
            if error.args[0] == "limit_exceeded":
                raise _to_limit_error(error) from None
            raise _to_feature_error(error) from None
        return Ragged.from_blocks(data, row_splits)

    def infer_features(self, payloads: Ragged) -> InferredFeatures:
        """Infer the names, kinds and shapes of the features that payloads contain.

        Parameters
        ----------
        payloads : Ragged of uint8

        Returns
        -------
        InferredFeatures
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
            feature = _infer_feature(kind, sequence, num_present < num_records, counts)
            features[name] = FeatureSummary(feature, num_present, counts, num_bytes if kind == "bytes" else None, mixed)
        return InferredFeatures(num_records, features, None if fault is None else fault[5])

    def accepts(self, payloads: Ragged) -> bool:
        """Return True if all payloads can be parsed. Unless all of them are empty, at least one must have a feature."""
        found = self.infer_features(payloads)
        return found.fault is None and (bool(found.features) or not len(payloads.data))


def _infer_feature(kind: Kind, sequence: bool, is_missing: bool, counts: tuple[int, int]) -> Feature:
    least, most = counts
    per_row: tuple[int | None, ...] = (None,) if least != most else () if most == 1 else (most,)
    if sequence:
        return Feature(kind, (None, *per_row), sequence=True, optional=is_missing)
    return Feature(kind, (None,), optional=True) if is_missing else Feature(kind, per_row)


def _to_feature_error(fault: _core.CoreFault) -> FeatureError:
    kind, _, _, expected, found, message = fault.args
    return FeatureError(message, kind=kind, expected=expected, found=found)


def _to_limit_error(fault: _core.CoreFault) -> LimitError:
    kind, _, _, expected, found, _ = fault.args
    message = "the record is too large for a message"
    return LimitError(message, kind=kind, expected=f"at most {expected} bytes", found=f"{found} bytes")


def _choose_missing_value(name: str, feature: Feature) -> Any:
    if feature.default is None:
        return "empty" if feature.optional else "error"
    return convert_to_column(name, [feature.default], feature, (feature.kind,)).values


def _check_feature_names(names: Mapping[str, None], schema: Schema) -> None:
    unknown = [name for name in names if name not in schema]
    is_missing = [
        name
        for name, feature in schema.items()
        if name not in names and not feature.optional and feature.default is None
    ]
    if unknown or is_missing:
        message = "the features of the example differ from those of the schema"
        raise FeatureError(
            message, kind="feature_mismatch", expected=", ".join(schema), found=", ".join(names) or "no feature"
        )


def _build_column(feature: Feature, entry: Any, num_records: int) -> Any:
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
        flat = _reshape_rows(flat, len(flat) // max(feature.count or 1, 1), rest)
    if row_splits is not None:
        return Ragged(flat, np.frombuffer(row_splits, np.int64))
    return _reshape_rows(flat, num_records, rest)


def _reshape_rows(flat: Any, num_rows: int, shape: tuple[int | None, ...]) -> Any:
    if shape == ():
        return flat
    if isinstance(flat, list):
        flat = Ragged.from_rows(flat)
    if isinstance(flat, Ragged):
        count = math.prod(size or 0 for size in shape)
        return Ragged(flat, np.arange(num_rows + 1, dtype=np.int64) * count)
    return flat.reshape(num_rows, *shape)
