"""MXNet's image record: a 24-byte header with flag, label, id and id2, optional labels, then the data.

In an example, the only bytes feature holds the data; its name is ``image`` unless the schema has another name. The
feature ``label`` is a float32 or a vector of float32, and ``id`` and ``id2`` are uint64.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from recordmill import _core
from recordmill.errors import FeatureError
from recordmill.formats.base import FeatureSummary, InferredFeatures
from recordmill.formats.native import NativeCodec
from recordmill.formats.values import ColumnArgs, convert_to_column
from recordmill.schema import Feature, Schema
from recordmill.types import Ragged

DATA_FEATURE = "image"
_HEADER = {"label": "float32", "id": "uint64", "id2": "uint64", "flag": "int64"}
_DATA = b"data"


@dataclass(frozen=True, slots=True)
class IRHeaderCodec(NativeCodec):
    """Codec of image records. The features are the header fields and the data after the header."""

    @property
    def is_recognizable(self) -> bool:
        """Return False: `accepts` cannot detect this codec, because it accepts many payloads of other codecs."""
        return False

    def native_key(self, name: str, schema: Schema) -> bytes:
        """Return the native parser's key for a feature: ``data`` for the bytes feature, otherwise the feature name."""
        if schema[name].kind == "bytes":
            return _DATA
        if name not in _HEADER:
            raise _unsupported_feature_error(name)
        return name.encode()

    def serialize(
        self, examples: Sequence[Mapping[str, Any]], schema: Schema | None, first: int, known: Schema | None = None
    ) -> Ragged:
        """Serialize examples to image records.

        ``label`` and ``id2`` default to 0, ``id`` to the position. A label that is a single number is stored in the
        header; an array, even of one value, is stored after it (flag = number of values).

        Parameters
        ----------
        examples : sequence of mapping
        schema : Schema or None
        first : int
            Position of the first example.
        known : Schema, optional
            Not used, because the header determines all kinds.

        Returns
        -------
        Ragged of uint8

        Raises
        ------
        FeatureError
            If an example does not have exactly one bytes feature, or has a feature that the header cannot hold.
        """
        del known
        data = _find_data_feature(examples)
        names = {name for example in examples for name in example}
        for name in sorted(names - set(data)):
            if name not in ("label", "id", "id2"):
                raise _unsupported_feature_error(name)
        feature = None if schema is None else schema.get("label")
        fields = {
            "image": [example[data[0]] for example in examples],
            "id": [example.get("id", first + position) for position, example in enumerate(examples)],
            "id2": [example.get("id2", 0) for example in examples],
            "label": [example.get("label", 0.0) for example in examples],
        }
        scalar = [isinstance(label, int | float | np.number | np.bool_) for label in fields["label"]]
        if all(scalar) or not any(scalar):
            return self._serialize_fields(fields, data[0], feature, scalar=all(scalar))
        return self._serialize_scalar_and_array_labels(fields, data[0], feature, scalar)

    def _serialize_fields(
        self, fields: Mapping[str, list[Any]], data: str, feature: Feature | None, *, scalar: bool
    ) -> Ragged:
        columns = [
            _rename_column(convert_to_column(data, fields["image"], Feature("bytes"), ("bytes",)), _DATA),
            convert_to_column("id", fields["id"], Feature("uint64"), ("uint64",)),
            convert_to_column("id2", fields["id2"], Feature("uint64"), ("uint64",)),
            _build_label_column(fields["label"], feature, scalar=scalar),
        ]
        return self.serialize_columns(len(fields["id"]), columns)

    def _serialize_scalar_and_array_labels(
        self, fields: Mapping[str, list[Any]], data: str, feature: Feature | None, scalar: list[bool]
    ) -> Ragged:
        """Serialize examples with scalar labels and with array labels separately: a column cannot mix the two."""
        rows: list[bytes] = [b""] * len(scalar)
        for plain in (True, False):
            chosen = [row for row, is_scalar in enumerate(scalar) if is_scalar is plain]
            some = {name: [values[row] for row in chosen] for name, values in fields.items()}
            for row, payload in zip(chosen, self._serialize_fields(some, data, feature, scalar=plain), strict=True):
                rows[row] = payload
        return Ragged.from_rows(rows)

    def infer_features(self, payloads: Ragged) -> InferredFeatures:
        """Infer the features ``image``, ``label``, ``id`` and ``id2``. The header field ``flag`` is not a feature."""
        found = NativeCodec.infer_features(self, payloads)
        features: dict[str, FeatureSummary] = {}
        for name in ("data", "label", "id", "id2"):
            if name in found.features:
                features[DATA_FEATURE if name == "data" else name] = found.features[name]
        return InferredFeatures(found.num_records, features, found.fault)


def _find_data_feature(examples: Sequence[Mapping[str, Any]]) -> list[str]:
    names = {name for example in examples for name in example if name not in _HEADER}
    if len(names) != 1 or any(not set(example) & names for example in examples):
        raise FeatureError(
            "an image record must have one feature of bytes in addition to label, id and id2",
            kind="feature_mismatch",
            expected="one feature of bytes in every example",
            found=", ".join(sorted(names)) or "none",
            hint='store several features with payload="example", or in another format',
        )
    return list(names)


def _build_label_column(labels: list[Any], feature: Feature | None, *, scalar: bool) -> ColumnArgs:
    shape = (None,) if feature is None else feature.shape
    args = convert_to_column("label", labels, Feature("float32", shape), ("float32",))
    args.scalar = scalar
    return args


def _rename_column(args: ColumnArgs, key: bytes) -> ColumnArgs:
    args.name = key
    return args


def _unsupported_feature_error(name: str) -> FeatureError:
    return FeatureError(
        f"feature {name!r} cannot be stored in an image record",
        kind="feature_mismatch",
        expected="one feature of bytes, label, id, id2",
        found=name,
        hint='store it with payload="example", or in another format',
    )


IRHEADER = IRHeaderCodec("irheader", _core.PayloadKind.IRHEADER, ("bytes", "float32", "int64", "uint64"))
