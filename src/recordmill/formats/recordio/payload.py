"""MXNet's image record: a 24-byte header with flag, label, id and id2, optional labels, then the data.

In an example the data is the one bytes feature (``image`` unless the schema has another name); ``label`` is a float32
or a vector of float32, and ``id`` and ``id2`` are uint64.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from recordmill import _core
from recordmill.errors import FeatureError
from recordmill.formats.base import FeatureSummary, Inference
from recordmill.formats.native import NativeCodec
from recordmill.formats.values import ColumnArgs, column
from recordmill.schema import Feature, Schema
from recordmill.types import Ragged

DATA_FEATURE = "image"
_HEADER = {"label": "float32", "id": "uint64", "id2": "uint64", "flag": "int64"}
_DATA = b"data"


@dataclass(frozen=True, slots=True)
class IRHeaderCodec(NativeCodec):
    """Codec with header fields and data as features."""

    @property
    def shows_itself(self) -> bool:
        """Return False: many byte strings can be parsed as a header."""
        return False

    def key(self, name: str, schema: Schema) -> bytes:
        """Key for the native parser: the header field, or the data for the one bytes feature."""
        if schema[name].kind == "bytes":
            return _DATA
        if name not in _HEADER:
            raise _unsupported_feature(name)
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
        data = _data_names(examples)
        names = {name for example in examples for name in example}
        for name in sorted(names - set(data)):
            if name not in ("label", "id", "id2"):
                raise _unsupported_feature(name)
        feature = None if schema is None else schema.get("label")
        fields = {
            "image": [example[data[0]] for example in examples],
            "id": [example.get("id", first + position) for position, example in enumerate(examples)],
            "id2": [example.get("id2", 0) for example in examples],
            "label": [example.get("label", 0.0) for example in examples],
        }
        scalar = [isinstance(label, int | float | np.number | np.bool_) for label in fields["label"]]
        if all(scalar) or not any(scalar):
            return self._write(fields, data[0], feature, scalar=all(scalar))
        return self._write_mixed(fields, data[0], feature, scalar)

    def _write(self, fields: Mapping[str, list[Any]], data: str, feature: Feature | None, *, scalar: bool) -> Ragged:
        columns = [
            _renamed(column(data, fields["image"], Feature("bytes"), ("bytes",)), _DATA),
            column("id", fields["id"], Feature("uint64"), ("uint64",)),
            column("id2", fields["id2"], Feature("uint64"), ("uint64",)),
            _label_column(fields["label"], feature, scalar=scalar),
        ]
        return self.write_columns(len(fields["id"]), columns)

    def _write_mixed(
        self, fields: Mapping[str, list[Any]], data: str, feature: Feature | None, scalar: list[bool]
    ) -> Ragged:
        """Serialize scalar labels and arrays separately: other examples must not change how a label is stored."""
        rows: list[bytes] = [b""] * len(scalar)
        for plain in (True, False):
            chosen = [row for row, is_scalar in enumerate(scalar) if is_scalar is plain]
            some = {name: [values[row] for row in chosen] for name, values in fields.items()}
            for row, payload in zip(chosen, self._write(some, data, feature, scalar=plain), strict=True):
                rows[row] = payload
        return Ragged.from_rows(rows)

    def infer(self, payloads: Ragged) -> Inference:
        """Infer data, label and ids; the flag only states how labels are stored."""
        found = NativeCodec.infer(self, payloads)
        features: dict[str, FeatureSummary] = {}
        for name in ("data", "label", "id", "id2"):
            if name in found.features:
                features[DATA_FEATURE if name == "data" else name] = found.features[name]
        return Inference(found.num_records, features, found.fault)


def _data_names(examples: Sequence[Mapping[str, Any]]) -> list[str]:
    names = {name for example in examples for name in example if name not in _HEADER}
    if len(names) != 1 or any(not set(example) & names for example in examples):
        raise FeatureError(
            "an image record holds one feature of bytes beside label, id and id2",
            kind="feature_mismatch",
            expected="one feature of bytes in every example",
            found=", ".join(sorted(names)) or "none",
            hint='store several with payload="example", or in another format',
        )
    return list(names)


def _label_column(labels: list[Any], feature: Feature | None, *, scalar: bool) -> ColumnArgs:
    try:
        arrays = [np.asarray(label, np.float32).reshape(() if scalar else -1) for label in labels]
    except (TypeError, ValueError) as error:
        message = "a label is no number and no array of numbers"
        raise FeatureError(message, kind="feature_mismatch", expected="float32", found=str(error)) from None
    if feature is not None and feature.count is not None and any(array.size != feature.count for array in arrays):
        raise FeatureError("a label has another number of values than the schema says", kind="feature_mismatch")
    args = column("label", arrays, Feature("float32", (None,)), ("float32",))
    args.scalar = scalar
    return args


def _renamed(args: ColumnArgs, key: bytes) -> ColumnArgs:
    args.name = key
    return args


def _unsupported_feature(name: str) -> FeatureError:
    return FeatureError(
        f"an image record has no room for feature {name!r}",
        kind="feature_mismatch",
        expected="one feature of bytes, label, id, id2",
        found=name,
        hint='store it with payload="example", or in another format',
    )


IRHEADER = IRHeaderCodec("irheader", _core.PayloadKind.IRHEADER, ("bytes", "float32", "int64", "uint64"))
