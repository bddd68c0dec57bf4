"""``tf.io.parse_example`` and ``parse_single_example``: features of records as tensors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np

import recordmill as rm
from recordmill.compat.processors import num_processors
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.dtypes import string
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.rows import Rows
from recordmill.compat.tensorflow.core.tensor import array_of
from recordmill.compat.tensorflow.io.assembling import tensor_of
from recordmill.compat.tensorflow.io.composing import composed
from recordmill.compat.tensorflow.io.features import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    RaggedFeature,
    SparseFeature,
    VarLenFeature,
)
from recordmill.compat.tensorflow.io.known_specs import known_spec
from recordmill.compat.tensorflow.io.refusals import Batch, check_blocks, refusal
from recordmill.compat.tensorflow.io.specs import Spec

Payloads: TypeAlias = list[bytes] | rm.Ragged
_ALLOWED = (VarLenFeature, SparseFeature, FixedLenFeature, FixedLenSequenceFeature, RaggedFeature)


@op("io.parse_example")
def parse_example(serialized: Any, features: Mapping[str, Any], example_names: Any = None, name: Any = None) -> Any:
    """Parse a batch of records that hold an ``Example``."""
    del name
    if not features:
        raise ValueError(f"Argument `features` cannot be None or falsy. Got {features}")
    for feature in features.values():
        if isinstance(feature, FixedLenSequenceFeature) and not feature.allow_missing:
            raise ValueError("Unsupported: FixedLenSequenceFeature requires allow_missing to be True.")
    payloads, single = payloads_of(serialized)
    return _parsed(payloads, known_spec(features, _ALLOWED), single, example_names)


@op("io.parse_single_example")
def parse_single_example(
    serialized: Any, features: Mapping[str, Any], example_names: Any = None, name: Any = None
) -> Any:
    """Parse one record that holds an ``Example``."""
    if features is None:
        raise ValueError("Invalid argument: features cannot be None.")
    if not features:
        raise ValueError("Invalid argument: features cannot be empty.")
    if np.ndim(array_of(serialized, string)):
        raise ValueError("Input serialized must be a scalar")
    return parse_example(serialized, features, example_names, name)


def names_of(features: Mapping[str, Any]) -> list[str]:
    """Names of features in the order in which the results have them."""
    return known_spec(features, _ALLOWED).names


def payloads_of(serialized: Any) -> tuple[Payloads, bool]:
    """Records as they were given, and whether it is one without a batch."""
    if isinstance(serialized, list) and serialized and {*map(type, serialized)} == {bytes}:
        return serialized, False
    rows = serialized.rows if isinstance(serialized, Rows) else None
    if rows is not None:
        return rows, False
    array = array_of(serialized, string)
    if array.ndim > 1:
        shape = ",".join(map(str, array.shape))
        raise InvalidArgumentError(f"Expected serialized to be a scalar or vector, got shape: [{shape}]")
    payloads: list[bytes] = array.reshape(-1).tolist()
    return payloads, not array.ndim


def _parsed(payloads: Payloads, spec: Spec, single: bool, names: Any) -> dict[str, Any]:
    columns = spec.columns
    batch = Batch(payloads, single, names)
    try:
        found = rm.parse_payloads(payloads, spec.schema, payload="example", threads=num_processors())
    except (rm.FeatureError, rm.PayloadError) as error:
        raise refusal(error, columns, batch) from None
    check_blocks(columns, found, batch)
    tensors = {column.key: tensor_of(column, found[column.key], len(payloads), single) for column in columns}
    return composed(spec, tensors) if spec.is_composed else tensors
