"""``tf.io.parse_example`` and ``parse_single_example``: parse the features of records to tensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

import recordmill as rm
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.dtypes import string
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.rows import StringVector
from recordmill.compat.tensorflow.core.tensor import array_of
from recordmill.compat.tensorflow.io.columns import combine_columns, to_feature_tensor
from recordmill.compat.tensorflow.io.features import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    RaggedFeature,
    SparseFeature,
    VarLenFeature,
)
from recordmill.compat.tensorflow.io.specs import FeatureColumn, ParsingSpec, cached_spec
from recordmill.concurrency.threads import num_cpus

Payloads: TypeAlias = list[bytes] | rm.Ragged
_ALLOWED = (VarLenFeature, SparseFeature, FixedLenFeature, FixedLenSequenceFeature, RaggedFeature)


@op("io.parse_example")
def parse_example(serialized: Any, features: Mapping[str, Any], example_names: Any = None, name: Any = None) -> Any:
    """``tf.io.parse_example``: parse a batch of serialized ``Example`` messages."""
    del name
    if not features:
        raise ValueError(f"features must not be empty, got {features}")
    for feature in features.values():
        if isinstance(feature, FixedLenSequenceFeature) and not feature.allow_missing:
            raise ValueError("Unsupported: FixedLenSequenceFeature requires allow_missing to be True.")
    payloads, single = read_payloads(serialized)
    return _parse_columns(payloads, cached_spec(features, _ALLOWED), single, example_names)


@op("io.parse_single_example")
def parse_single_example(
    serialized: Any, features: Mapping[str, Any], example_names: Any = None, name: Any = None
) -> Any:
    """``tf.io.parse_single_example``: parse one serialized ``Example`` message."""
    if np.ndim(array_of(serialized, string)):
        raise ValueError("serialized must be a scalar")
    return parse_example(serialized, features, example_names, name)


def parse_example_v1(serialized: Any, features: Mapping[str, Any], name: Any = None, example_names: Any = None) -> Any:
    """``tf.compat.v1.io.parse_example``: like `parse_example`, with `name` before `example_names`."""
    del name
    return parse_example(serialized, features, *([] if example_names is None else [example_names]))


def parse_single_example_v1(
    serialized: Any, features: Mapping[str, Any], name: Any = None, example_names: Any = None
) -> Any:
    """``tf.compat.v1.io.parse_single_example``: like `parse_single_example`, with `name` before `example_names`."""
    del name
    # Do not pass `example_names=None`: native code parses whole batches only for calls without `example_names`.
    return parse_single_example(serialized, features, *([] if example_names is None else [example_names]))


def ordered_feature_names(features: Mapping[str, Any]) -> list[str]:
    """Return the names of features in the order of the dict that the parser returns."""
    return cached_spec(features, _ALLOWED).names


def read_payloads(serialized: Any) -> tuple[Payloads, bool]:
    """Return the serialized records, and True if `serialized` is a scalar instead of a batch."""
    if isinstance(serialized, list) and serialized and {*map(type, serialized)} == {bytes}:
        return serialized, False
    rows = serialized.buffer if isinstance(serialized, StringVector) else None
    if rows is not None:
        return rows, False
    array = array_of(serialized, string)
    if array.ndim > 1:
        raise InvalidArgumentError(f"serialized must be a scalar or vector, got shape {list(array.shape)}")
    payloads: list[bytes] = array.reshape(-1).tolist()
    return payloads, not array.ndim


def convert_parse_error(error: rm.RecordmillError, single: bool, names: Any) -> InvalidArgumentError:
    """Convert an error of recordmill's parser to TensorFlow's InvalidArgumentError."""
    labels = [] if names is None else array_of(names).reshape(-1).tolist()
    position = error.record or 0
    label = f" {labels[position].decode('utf-8', 'backslashreplace')}" if position < len(labels) else ""
    return InvalidArgumentError(
        f"Could not parse example{label}: {error.message}",
        kind=error.kind,
        record=None if single else position,
        expected=error.expected,
        found=error.found,
    )


def _parse_columns(payloads: Payloads, spec: ParsingSpec, single: bool, names: Any) -> dict[str, Any]:
    columns = spec.columns
    try:
        found = rm.parse_payloads(payloads, spec.schema, payload="example", threads=1 if single else num_cpus())
    except (rm.FeatureError, rm.PayloadError) as error:
        raise convert_parse_error(error, single, names) from None
    _check_padded_value_counts(columns, found, single)
    tensors = {column.key: to_feature_tensor(column, found[column.key], len(payloads), single) for column in columns}
    return combine_columns(spec, tensors) if spec.has_composed_features else tensors


def _check_padded_value_counts(columns: Sequence[FeatureColumn], found: Mapping[str, Any], single: bool) -> None:
    """Raise InvalidArgumentError if a padded feature's value count is not a multiple of `column.num_values`."""
    for column in columns:
        if column.form != "padded" or column.num_values == 1:
            continue
        counts: NDArray[np.int64] = np.diff(found[column.key].row_splits)
        wrong = np.flatnonzero(counts % column.num_values) if column.num_values else np.flatnonzero(counts)
        if len(wrong):
            position = int(wrong[0])
            raise InvalidArgumentError(
                f"feature {column.key!r}: the number of values must be a multiple of {column.num_values}, got "
                f"{counts[position]}",
                kind="feature_mismatch",
                record=None if single else position,
            )
