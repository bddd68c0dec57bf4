"""Why sequences of records do not hold what is asked for, in TensorFlow's words."""

from __future__ import annotations

from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.io.refusals import KINDS, Batch
from recordmill.compat.tensorflow.io.specs import NAMES, Column, Spec
from recordmill.compat.tensorflow.train.messages import Feature, SequenceExample
from recordmill.errors import PayloadError, RecordmillError


def sequence_refusal(error: RecordmillError, context: Spec, lists: Spec, batch: Batch) -> InvalidArgumentError:
    """TensorFlow's error for that of the library's parser."""
    position = error.record or 0
    name = batch.name(position)
    try:
        if isinstance(error, PayloadError):
            raise error
        message = SequenceExample.FromString(batch.payloads[position])
    except PayloadError:
        told = batch.error(f"Invalid protocol message input, example id: {name}", position, found=error.message)
        told.kind = "bad_payload"
        return told
    for column in context.columns:
        if problem := _context_problem(column, message, name, batch):
            return batch.error(problem, position)
    for column in lists.columns:
        if problem := _list_problem(column, message, name):
            return batch.error(problem, position)
    return batch.error(error.message, position, expected=error.expected, found=error.found)


def _values(feature: Feature) -> tuple[str | None, int]:
    """Kind and number of a feature's values."""
    kind = feature.WhichOneof("kind")
    return (None, 0) if kind is None else (NAMES[KINDS[kind]], len(getattr(feature, kind).value))


def _context_problem(column: Column, message: SequenceExample, name: str, batch: Batch) -> str | None:
    key, wanted = column.key, NAMES[column.dtype.name]
    feature = message.context.feature.get(key)
    kind, count = (None, 0) if feature is None else _values(feature)
    if kind is not None and kind != wanted:
        return f"Name: {name}, Context feature: {key}.  Data types don't match. Expected type: {wanted}"
    if column.form != "fixed" or count == column.count or (kind is None and column.default is not None):
        return None
    most = max(_context_count(payload, key) for payload in batch.payloads)
    if most != column.count and column.default is None:
        return f"Inconsistent max number of elements for feature {key}: expected {column.count}, but found {most}"
    return f"Unexpected number of elements in example {name}"


def _context_count(payload: bytes, key: str) -> int:
    try:
        feature = SequenceExample.FromString(payload).context.feature.get(key)
    except PayloadError:
        return 0
    return 0 if feature is None else _values(feature)[1]


def _list_problem(column: Column, message: SequenceExample, name: str) -> str | None:
    key, wanted = column.key, NAMES[column.dtype.name]
    frames = message.feature_lists.feature_list.get(key)
    if frames is None:
        if column.form != "padded" or column.allow_missing:
            return None
        return (
            f"Name: {name}, Feature list '{key}' is required but could not be found.  Did you mean to include it in "
            "feature_list_dense_missing_assumed_empty or feature_list_dense_defaults?"
        )
    for place, frame in enumerate(frames.feature):
        kind, count = _values(frame)
        if kind is not None and kind != wanted:
            place_told = f"Name: {name}, Feature list: {key}, Index: {place}."
            return f"{place_told}  Data types don't match. Expected type: {wanted}"
        if column.form == "padded" and count != column.count:
            shape = ",".join(map(str, column.shape))
            numbers = f"values size: {count} but output shape: [{shape}]"
            return f"Name: {name}, Key: {key}, Index: {place}.  Number of values != expected.  {numbers}"
    return None
