"""``tf.io.parse_sequence_example`` and ``parse_single_sequence_example``: contexts and frames of records as tensors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

import recordmill as rm
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.dtypes import string
from recordmill.compat.tensorflow.core.tensor import Tensor, array_of
from recordmill.compat.tensorflow.io.assembling import list_tensor_of, tensor_of
from recordmill.compat.tensorflow.io.composing import composed
from recordmill.compat.tensorflow.io.features import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    RaggedFeature,
    VarLenFeature,
)
from recordmill.compat.tensorflow.io.known_specs import known_spec
from recordmill.compat.tensorflow.io.parsing import payloads_of
from recordmill.compat.tensorflow.io.refusals import Batch
from recordmill.compat.tensorflow.io.sequence_refusals import sequence_refusal
from recordmill.compat.tensorflow.io.specs import Column, Spec

_CONTEXT = (VarLenFeature, FixedLenFeature, RaggedFeature)
_LISTS = (VarLenFeature, FixedLenSequenceFeature, RaggedFeature)
Tensors = dict[str, Any]


@op("io.parse_sequence_example")
def parse_sequence_example(
    serialized: Any,
    context_features: Mapping[str, Any] | None = None,
    sequence_features: Mapping[str, Any] | None = None,
    example_names: Any = None,
    name: Any = None,
) -> tuple[Tensors, Tensors, Tensors]:
    """Parse a batch of records that hold a ``SequenceExample``."""
    del name
    if not (context_features or sequence_features):
        raise ValueError(
            "Both `context_features` and `sequence_features` argument are None, but at least one should have values."
        )
    context, lists = known_spec(context_features or {}, _CONTEXT), known_spec(sequence_features or {}, _LISTS)
    for key, feature in lists.features.items():
        if isinstance(feature, FixedLenSequenceFeature) and feature.default_value is not None:
            raise ValueError(f"Value feature_list.dense_defaults[{key}] must be None")
    payloads, single = payloads_of(serialized)
    return _parsed(Batch(payloads, single, example_names), context, lists)


@op("io.parse_single_sequence_example")
def parse_single_sequence_example(
    serialized: Any,
    context_features: Mapping[str, Any] | None = None,
    sequence_features: Mapping[str, Any] | None = None,
    example_name: Any = None,
    name: Any = None,
) -> tuple[Tensors, Tensors]:
    """Parse one record that holds a ``SequenceExample``."""
    if not (context_features or sequence_features):
        raise ValueError("Both context_features and sequence_features are None, but at least one should have values.")
    if np.ndim(array_of(serialized, string)):
        raise ValueError("Input serialized must be a scalar")
    found = parse_sequence_example(serialized, context_features, sequence_features, example_name, name)
    return found[0], found[1]


def _parsed(batch: Batch, context: Spec, lists: Spec) -> tuple[Tensors, Tensors, Tensors]:
    found = [_read(batch, context.schema, context, lists), _read(batch, _list_schema(lists), context, lists)]
    num_rows, single = len(batch.payloads), batch.single
    wholes = {column.key: tensor_of(column, found[0][column.key], num_rows, single) for column in context.columns}
    frames, lengths = {}, {}
    for column in lists.columns:
        frames[column.key] = list_tensor_of(column, found[1][column.key], single)
        if column.form == "padded":
            counts = np.diff(found[1][column.key].row_splits)
            lengths[column.key] = Tensor(counts[0].reshape(()) if single else counts)
    return (
        composed(context, wholes) if context.is_composed else wholes,
        composed(lists, frames) if lists.is_composed else frames,
        lengths,
    )


def _read(batch: Batch, schema: rm.Schema, context: Spec, lists: Spec) -> dict[str, Any]:
    try:
        return rm.parse_payloads(batch.payloads, schema, payload="sequence_example") if len(schema) else {}
    except (rm.FeatureError, rm.PayloadError) as error:
        raise sequence_refusal(error, context, lists, batch) from None


def _list_schema(lists: Spec) -> rm.Schema:
    return rm.Schema({column.key: _list_feature(column) for column in lists.columns})


def _list_feature(column: Column) -> rm.Feature:
    shape = (None, *column.shape) if column.form == "padded" else (None, None)
    optional = column.form != "padded" or column.allow_missing
    return rm.Feature(column.kind, shape, sequence=True, optional=optional)
