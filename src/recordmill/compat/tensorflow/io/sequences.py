"""``tf.io.parse_sequence_example`` and ``parse_single_sequence_example``: parse contexts and feature lists."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

import recordmill as rm
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.dtypes import string
from recordmill.compat.tensorflow.core.tensor import Tensor, array_of
from recordmill.compat.tensorflow.io.columns import combine_columns, to_feature_list_tensor, to_feature_tensor
from recordmill.compat.tensorflow.io.features import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    RaggedFeature,
    VarLenFeature,
)
from recordmill.compat.tensorflow.io.parsing import convert_parse_error, read_payloads
from recordmill.compat.tensorflow.io.specs import cached_spec

_CONTEXT = (VarLenFeature, FixedLenFeature, RaggedFeature)
_LISTS = (VarLenFeature, FixedLenSequenceFeature, RaggedFeature)
_Tensors = dict[str, Any]


@op("io.parse_sequence_example")
def parse_sequence_example(
    serialized: Any,
    context_features: Mapping[str, Any] | None = None,
    sequence_features: Mapping[str, Any] | None = None,
    example_names: Any = None,
    name: Any = None,
) -> tuple[_Tensors, _Tensors, _Tensors]:
    """``tf.io.parse_sequence_example``: parse a batch of messages; return contexts, feature lists and list lengths."""
    del name
    if not (context_features or sequence_features):
        raise ValueError("context_features or sequence_features must be given")
    context, lists = cached_spec(context_features or {}, _CONTEXT), cached_spec(sequence_features or {}, _LISTS)
    for key, feature in lists.features.items():
        if isinstance(feature, FixedLenSequenceFeature) and feature.default_value is not None:
            raise ValueError(f"default_value of the feature list {key!r} must be None")
    payloads, single = read_payloads(serialized)

    def parse_messages(schema: rm.Schema) -> dict[str, Any]:
        try:
            return rm.parse_payloads(payloads, schema, payload="sequence_example") if len(schema) else {}
        except (rm.FeatureError, rm.PayloadError) as error:
            raise convert_parse_error(error, single, example_names) from None

    found, found_lists = parse_messages(context.schema), parse_messages(lists.list_schema)
    contexts, frames, lengths = {}, {}, {}
    for column in context.columns:
        contexts[column.key] = to_feature_tensor(column, found[column.key], len(payloads), single)
    for column in lists.columns:
        frames[column.key] = to_feature_list_tensor(column, found_lists[column.key], single)
        if column.form == "padded":
            counts = np.diff(found_lists[column.key].row_splits)
            lengths[column.key] = Tensor(counts[0].reshape(()) if single else counts)
    return (
        combine_columns(context, contexts) if context.has_composed_features else contexts,
        combine_columns(lists, frames) if lists.has_composed_features else frames,
        lengths,
    )


@op("io.parse_single_sequence_example")
def parse_single_sequence_example(
    serialized: Any,
    context_features: Mapping[str, Any] | None = None,
    sequence_features: Mapping[str, Any] | None = None,
    example_name: Any = None,
    name: Any = None,
) -> tuple[_Tensors, _Tensors]:
    """``tf.io.parse_single_sequence_example``: parse one message; return its context and its feature lists."""
    if np.ndim(array_of(serialized, string)):
        raise ValueError("serialized must be a scalar")
    found = parse_sequence_example(serialized, context_features, sequence_features, example_name, name)
    return found[0], found[1]
