"""Why records do not hold what is asked for, in TensorFlow's words.

The library's parser says which record it was; that record is read once more as a message, to tell what it holds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.tensor import array_of
from recordmill.compat.tensorflow.io.specs import NAMES, Column
from recordmill.compat.tensorflow.train.messages import Example, Feature
from recordmill.dataclass import dataclass
from recordmill.errors import PayloadError, RecordmillError
from recordmill.types import Ragged

KINDS = {"bytes_list": "string", "float_list": "float32", "int64_list": "int64"}
# As much of a payload as a message shows.
_SHOWN = 200


@dataclass(frozen=True, slots=True)
class Batch:
    """Records that are parsed together."""

    payloads: Sequence[bytes] | Ragged
    single: bool
    names: Any = None

    def name(self, position: int) -> str:
        """What messages call a record."""
        names = [] if self.names is None else array_of(self.names).reshape(-1).tolist()
        if position >= len(names):
            return "<unknown>"
        return str(names[position], "utf-8", "backslashreplace")

    def error(self, message: str, position: int, **parts: Any) -> InvalidArgumentError:
        """Error of one record."""
        return InvalidArgumentError(message, kind="feature_mismatch", record=None if self.single else position, **parts)


def refusal(error: RecordmillError, columns: Sequence[Column], batch: Batch) -> InvalidArgumentError:
    """TensorFlow's error for that of the library's parser."""
    position = error.record or 0
    payload = batch.payloads[position]
    try:
        if isinstance(error, PayloadError):
            raise error
        features = Example.FromString(payload).features.feature
    except PayloadError:
        return unparsable("Could not parse example input", payload, error, batch)
    prefix = "" if batch.single else f"Name: {batch.name(position)}, "
    for key in reversed(list(features)):
        column = next((column for column in columns if column.key == key), None)
        if column is not None and (problem := _problem(column, features[key], position, batch)):
            return batch.error(problem, position)
    for column in columns:
        if column.form == "fixed" and column.default is None and not _has(features, column.key):
            kind = f"(data type: {NAMES[column.dtype.name]})"
            return batch.error(f"{prefix}Feature: {column.key} {kind} is required but could not be found.", position)
    return batch.error(error.message, position, expected=error.expected, found=error.found)


def unparsable(opening: str, payload: bytes, error: RecordmillError, batch: Batch) -> InvalidArgumentError:
    """Error of a payload that is no message; it shows the beginning."""
    text = payload[:_SHOWN].decode("utf-8", "backslashreplace") + ("…" if len(payload) > _SHOWN else "")
    told = batch.error(f"{opening}, value: '{text}'", error.record or 0, found=error.message)
    told.kind = "bad_payload"
    return told


def _has(features: Mapping[str, Feature], key: str) -> bool:
    return key in features and features[key].WhichOneof("kind") is not None


def _problem(column: Column, feature: Feature, position: int, batch: Batch) -> str | None:
    """What is wrong with one feature of one record, None if nothing is."""
    kind = feature.WhichOneof("kind")
    if kind is None:
        return None
    head = f"Key: {column.key}."
    if not batch.single:
        head = f"Name: {batch.name(position)}, Key: {column.key}, Index: {position}."
    wanted, found = NAMES[column.dtype.name], NAMES[KINDS[kind]]
    if wanted != found and column.form in ("sparse", "ragged"):
        return f"{head}  Data types don't match. Expected type: {wanted}, Actual type: {found}"
    if wanted != found:
        return f"{head}  Data types don't match. Data type: {found} but expected type: {wanted}"
    count = len(getattr(feature, kind).value)
    if column.form != "fixed" or count == column.count:
        return None
    if kind == "bytes_list" and count > column.count:
        return f"{head}  Can't parse serialized Example" + (": Parsing bytes_list failed." if batch.single else ".")
    if batch.single:
        return f"{head}  Can't parse serialized Example: Some {kind} slice was not parsed."
    return (
        f"{head}  Number of {wanted} values != expected.  Values size: {count} but output shape: {_text(column.shape)}"
    )


def _text(shape: Sequence[Any]) -> str:
    return f"[{','.join(map(str, shape))}]"


def check_blocks(columns: Sequence[Column], found: Mapping[str, Any], batch: Batch) -> None:
    """Refuse padded features whose values are no whole number of blocks."""
    for column in columns:
        if column.form != "padded" or column.count == 1:
            continue
        counts = np.diff(found[column.key].row_splits)
        wrong = np.flatnonzero(counts % column.count) if column.count else np.flatnonzero(counts)
        if len(wrong):
            raise _no_blocks(column, int(wrong[0]), int(counts[wrong[0]]), batch)


def _no_blocks(column: Column, position: int, count: int, batch: Batch) -> InvalidArgumentError:
    if batch.single:
        divisible = f"number of elements should be divisible by {column.count}, found {count} instead"
        return batch.error(f"Error while parsing feature with key {column.key}: {divisible}", position)
    kind = {"string": "bytes"}.get(column.dtype.name, NAMES[column.dtype.name])
    return batch.error(
        f"Name: {batch.name(position)}, Key: {column.key}, Index: {position}.  Number of {kind} values is not a "
        f"multiple of stride length. Saw {count} values but output shape is: {_text(['?', *column.shape])}",
        position,
    )
