"""Features that are put together of several: values with their indices, and values divided into rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.sparse import SparseTensor
from recordmill.compat.tensorflow.core.tensor import Tensor
from recordmill.compat.tensorflow.io.features import RaggedFeature, SparseFeature
from recordmill.compat.tensorflow.io.partitions import partitioned
from recordmill.compat.tensorflow.io.specs import Spec


def composed(spec: Spec, tensors: dict[str, Any]) -> dict[str, Any]:
    """Put together what is made of several columns, and leave out columns that were asked for only for that."""
    made = {}
    for name, feature in spec.features.items():
        if isinstance(feature, SparseFeature):
            made[name] = _indexed(feature, tensors)
        elif isinstance(feature, RaggedFeature):
            made[name] = partitioned(name, feature, tensors)
    return {name: tensor for name, tensor in (tensors | made).items() if name in spec.features}


def _indexed(feature: SparseFeature, tensors: dict[str, Any]) -> SparseTensor:
    keys = [feature.index_key] if isinstance(feature.index_key, str) else list(feature.index_key)
    sizes = [feature.size] if isinstance(feature.index_key, str) else list(feature.size)
    given = tensors[feature.value_key]
    values, outer = given.values.values, given.indices.values[:, :-1]
    axes = [tensors[key].values.values for key in keys]
    for axis in axes:
        if len(axis) != len(values):
            refusal = f"Dimensions {len(axis)} and {len(values)} are not compatible"
            raise InvalidArgumentError(refusal) if len(axes) > 1 else ValueError(refusal)
    for key in keys:
        _check_records(feature.value_key, outer, key, tensors[key].indices.values[:, :-1])
    indices: NDArray[np.int64] = np.concatenate([outer, *(axis[:, None] for axis in axes)], axis=1)
    if not feature.already_sorted:
        order = np.lexsort(indices.T[::-1])
        indices, values = indices[order], values[order]
    shape = np.array([*given.dense_shape.values[:-1].tolist(), *sizes], np.int64)
    return SparseTensor(Tensor(indices), Tensor(values), Tensor(shape))


def _check_records(value_key: str, values: NDArray[Any], index_key: str, indices: NDArray[Any]) -> None:
    """Refuse records whose indices would go to the values of another one."""
    if np.array_equal(values, indices):
        return
    mine, theirs = values[:, 0], indices[:, 0]
    record = int(np.minimum(mine, theirs)[mine != theirs][0])
    raise InvalidArgumentError(
        f"expected as many values of {value_key!r} as indices of {index_key!r}, found {(mine == record).sum()} values "
        f"and {(theirs == record).sum()} indices",
        record=record,
    )
