"""Elements of data sets as records of a file of ours: what they are made of is told once, in JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from recordmill.compat.tensorflow.core.dtypes import as_dtype, string
from recordmill.compat.tensorflow.core.errors import DataLossError, UnimplementedError
from recordmill.compat.tensorflow.core.ragged import RaggedTensor
from recordmill.compat.tensorflow.core.sparse import SparseTensor
from recordmill.compat.tensorflow.core.tensor import Tensor, array_of
from recordmill.compat.tensorflow.data.ragged_rows import RaggedRow
from recordmill.compat.tensorflow.data.structures import filled, leaves
from recordmill.compat.tensorflow.io.tensor_protos import parse_tensor, serialize_tensor
from recordmill.compat.tensorflow.ops.specs import RaggedTensorSpec, SparseTensorSpec, TensorSpec

_SPARSE_PARTS = 3


def packed(value: Any) -> bytes:
    """Make a record of an element."""
    parts = [serialize_tensor(part).numpy() for leaf in leaves(value) for part in _parts(leaf)]
    whole: bytes = serialize_tensor(Tensor(array_of(np.array(parts, object)))).numpy()
    return whole


def _parts(leaf: Any) -> list[Tensor]:
    if isinstance(leaf, SparseTensor):
        return [leaf.indices, leaf.values, leaf.dense_shape]
    if isinstance(leaf, RaggedTensor):
        return [leaf.flat_values, *leaf.nested_row_splits]
    if not isinstance(leaf, Tensor):
        raise _no_leaf(leaf)
    return [Tensor(leaf.values)]


def _no_leaf(leaf: Any) -> UnimplementedError:
    return UnimplementedError(
        f"elements that hold a {type(leaf).__name__} are not kept in files: use tuples and dicts of tensors"
    )


def form_of(spec: Any) -> Any:
    """Tell the form of elements, as JSON keeps it."""
    if isinstance(spec, Mapping) and all(isinstance(key, str) for key in spec):
        return {"dict": [[key, form_of(one)] for key, one in spec.items()]}
    if type(spec) is tuple:
        return {"tuple": [form_of(one) for one in spec]}
    if not isinstance(spec, TensorSpec | SparseTensorSpec | RaggedTensorSpec):
        raise _no_leaf(spec)
    told: dict[str, Any] = {"dtype": spec.dtype.name, "shape": _lengths(spec)}
    if isinstance(spec, SparseTensorSpec):
        told["sparse"] = True
    if isinstance(spec, RaggedTensorSpec):
        told |= {"ragged_rank": spec.ragged_rank, "splits": spec.row_splits_dtype.name}
    return told


def _lengths(spec: Any) -> list[int | None] | None:
    return None if spec.shape.rank is None else spec.shape.as_list()


def spec_in(form: Any) -> Any:
    """Read the specs of elements from their form; KeyError or TypeError for what is none."""
    if "tuple" in form:
        return tuple(spec_in(one) for one in form["tuple"])
    if "dict" in form:
        return {_key(key): spec_in(one) for key, one in form["dict"]}
    shape, dtype = form["shape"], as_dtype(form["dtype"])
    if "ragged_rank" in form:
        return RaggedTensorSpec(shape, dtype, form["ragged_rank"], as_dtype(form["splits"]))
    return SparseTensorSpec(shape, dtype) if form.get("sparse") else TensorSpec(shape, dtype)


def _key(key: Any) -> str:
    if not isinstance(key, str):
        raise TypeError(f"a key is {key!r}")
    return key


def unpacked(record: bytes, spec: Any, shard: str, number: int) -> Any:
    """Element of a record."""
    try:
        return _element(record, spec)
    except ValueError as error:
        raise DataLossError(f"it is no such element as were kept: {error}", shard=shard, record=number) from error


def _element(record: bytes, spec: Any) -> Any:
    parts = parse_tensor(record, string).values.tolist()
    made, at = [], 0
    for leaf in leaves(spec):
        count = _num_parts(leaf)
        made.append(_leaf(parts[at : at + count], leaf))
        at += count
    if at != len(parts):
        raise ValueError(f"a record holds {len(parts)} tensors, not {at}")
    return filled(spec, iter(made))


def _num_parts(spec: Any) -> int:
    if isinstance(spec, RaggedTensorSpec):
        return 1 + spec.ragged_rank
    return _SPARSE_PARTS if isinstance(spec, SparseTensorSpec) else 1


def _leaf(parts: list[bytes], spec: Any) -> Any:
    if isinstance(spec, SparseTensorSpec):
        dtypes = ("int64", spec.dtype, "int64")
        return SparseTensor(*(parse_tensor(part, dtype) for part, dtype in zip(parts, dtypes, strict=True)))
    found: Any = parse_tensor(parts[0], spec.dtype)
    if not isinstance(spec, RaggedTensorSpec):
        return found
    if not spec.ragged_rank:
        return RaggedRow(found.values, spec.row_splits_dtype.numpy_dtype)
    for part in reversed(parts[1:]):
        found = RaggedTensor(found, parse_tensor(part, spec.row_splits_dtype).values)
    return found
