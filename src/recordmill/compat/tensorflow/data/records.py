"""Records parsed for a whole batch, as each of them alone is."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.core.dispatch import run
from recordmill.compat.tensorflow.core.rows import Rows
from recordmill.compat.tensorflow.core.sparse import FullVector, SparseTensor
from recordmill.compat.tensorflow.core.tensor import Tensor
from recordmill.compat.tensorflow.data.recorded import Recorded, picked
from recordmill.compat.tensorflow.data.recording import Call
from recordmill.compat.tensorflow.data.rules import Whole, WholeRows
from recordmill.compat.tensorflow.io.features import FixedLenFeature, FixedLenSequenceFeature, VarLenFeature

# What a batch holds of one value: an array, or a value for each sample.
Column = Whole | list[Any]
_EXAMPLE, _SEQUENCE = "io.parse_single_example", "io.parse_single_sequence_example"
_ARGUMENTS = {
    _EXAMPLE: ("serialized", "features"),
    _SEQUENCE: ("serialized", "context_features", "sequence_features"),
}


def is_parse(call: Call) -> bool:
    """Whether a call parses records, and may do so for many at once."""
    given = _given(call)
    if given is None or not isinstance(given.get("serialized"), Recorded):
        return False
    context = given.get("features", given.get("context_features")) or {}
    frames = given.get("sequence_features") or {}
    return all(
        isinstance(one, FixedLenFeature) or (call.name == _EXAMPLE and _varies(one)) for one in context.values()
    ) and all(isinstance(one, FixedLenSequenceFeature) for one in frames.values())


def parse(call: Call, rows: NDArray[Any]) -> dict[int, Column]:
    """Do it."""
    if rows.ndim != 1:
        raise ValueError("there is not one record for each sample")
    given = _given(call) or {}
    return (_examples if call.name == _EXAMPLE else _sequences)(call, given, rows)


def _given(call: Call) -> dict[str, Any] | None:
    """Arguments by name; none where there are others than those known here."""
    names = _ARGUMENTS.get(call.name, ())
    given = dict(zip(names, call.args, strict=False)) | call.kwargs
    is_known = set(given) <= set(names) and len(given) == len(call.args) + len(call.kwargs)
    return given if is_known else None


def _examples(call: Call, given: dict[str, Any], rows: NDArray[Any]) -> dict[int, Column]:
    features = given["features"]
    wanted = {key: VarLenFeature(one.dtype) if _varies(one) else one for key, one in features.items()}
    parsed = run("io.parse_example", Tensor(rows), wanted)
    return {
        number: _vectors(parsed[key], len(rows), features[key])
        if isinstance(parsed[key], SparseTensor)
        else _column(parsed[key])
        for number, key in call.outputs
    }


def _sequences(call: Call, given: dict[str, Any], rows: NDArray[Any]) -> dict[int, Column]:
    context, frames = given.get("context_features"), given.get("sequence_features")
    *parsed, lengths = run("io.parse_sequence_example", Tensor(rows), context, frames)
    columns = {}
    for number, key in call.outputs:
        found = picked(parsed, key)
        counts = lengths[key[1]].values.tolist() if key[0] else None
        columns[number] = (
            _column(found)
            if counts is None
            else [Tensor(row[:count]) for row, count in zip(found.values, counts, strict=True)]
        )
    return columns


def _column(made: Any) -> Column:
    return WholeRows(made) if isinstance(made, Rows) else Whole(made.values)


def _varies(feature: Any) -> bool:
    """Whether records hold any number of its values."""
    is_sequence = isinstance(feature, FixedLenSequenceFeature) and feature.allow_missing
    return is_sequence or isinstance(feature, VarLenFeature)


def _vectors(sparse: SparseTensor, count: int, feature: Any) -> Column:
    """Values of each record, as a record by itself gives them."""
    values = sparse.values.values
    splits = np.searchsorted(sparse.indices.values[:, 0], np.arange(count + 1)).tolist()
    rows = [values[start:stop] for start, stop in pairwise(splits)]
    if isinstance(feature, VarLenFeature):
        return [FullVector(Tensor(row)) for row in rows]
    shape = (-1, *np.atleast_1d(feature.shape).astype(int).tolist())
    return [Tensor(row.reshape(shape)) for row in rows]
