"""MXNet's image record: a 24-byte header with flag, label, id and id2, optional labels, then the data.

In an example the data are the one feature of bytes (``image`` unless a schema names it otherwise); ``label`` is a
float32 or a vector of them, ``id`` and ``id2`` are uint64.
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
    """Header fields and data as features."""

    @property
    def shows_itself(self) -> bool:
        """Many bytes can be read as a header."""
        return False

    def key(self, name: str, schema: Schema) -> bytes:
        """Key for the native parser: the header field, or the data for the one feature of bytes."""
        if schema[name].kind == "bytes":
            return _DATA
        if name not in _HEADER:
            raise _no_room(name)
        return name.encode()

    def serialize(
        self, examples: Sequence[Mapping[str, Any]], schema: Schema | None, first: int, known: Schema | None = None
    ) -> Ragged:
        """Image records of examples.

        A missing ``label`` is 0, a missing ``id`` the position, a missing ``id2`` 0. A label that is a single number
        goes into the header; an array, even of one value, is stored behind it (flag = number of values).

        Parameters
        ----------
        examples : sequence of mapping
        schema : Schema or None
        first : int
            Position of the first example.
        known : Schema, optional
            Not used: the header fixes all kinds.

        Returns
        -------
        Ragged of uint8

        Raises
        ------
        FeatureError
            Not exactly one feature of bytes, or a feature that the header has no room for.
        """
        del known
        data = _data_names(examples)
        names = {name for example in examples for name in example}
        for name in sorted(names - set(data)):
            if name not in ("label", "id", "id2"):
                raise _no_room(name)
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
        """Write scalar labels and arrays apart: neighbors must not change how a label is stored."""
        rows: list[bytes] = [b""] * len(scalar)
        for plain in (True, False):
            chosen = [row for row, is_scalar in enumerate(scalar) if is_scalar is plain]
            some = {name: [values[row] for row in chosen] for name, values in fields.items()}
            for row, payload in zip(chosen, self._write(some, data, feature, scalar=plain), strict=True):
                rows[row] = payload
        return Ragged.from_rows(rows)

    def infer(self, payloads: Ragged) -> Inference:
        """Features that some payloads have: data, label and ids; the flag only says how labels are stored."""
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


def _no_room(name: str) -> FeatureError:
    return FeatureError(
        f"an image record has no room for feature {name!r}",
        kind="feature_mismatch",
        expected="one feature of bytes, label, id, id2",
        found=name,
        hint='store it with payload="example", or in another format',
    )


IRHEADER = IRHeaderCodec("irheader", _core.PayloadKind.IRHEADER, ("bytes", "float32", "int64", "uint64"))
