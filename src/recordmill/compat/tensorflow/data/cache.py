"""Nodes that keep elements after the first complete pass, in memory or in a record file."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

import numpy as np

import recordmill as rm
from recordmill.compat.tensorflow.core.errors import DataLossError, UnimplementedError
from recordmill.compat.tensorflow.core.ragged import RaggedTensor
from recordmill.compat.tensorflow.core.sparse import SparseTensor
from recordmill.compat.tensorflow.core.tensor import Tensor, array_of
from recordmill.compat.tensorflow.data.elements import Element, Node, Step, Way
from recordmill.compat.tensorflow.data.ragged_rows import RaggedRow
from recordmill.compat.tensorflow.data.structures import filled, leaves
from recordmill.compat.tensorflow.data.tables import kept
from recordmill.compat.tensorflow.files.faults import translated
from recordmill.compat.tensorflow.io.records import tf_record_iterator
from recordmill.compat.tensorflow.io.tensor_protos import parse_tensor, serialize_tensor

# Appended to the given name, so that TensorFlow's own cache files of that name are left alone.
SUFFIX = ".cache.tfrecord"


class Cache(Node):
    """Elements kept in memory after the first complete pass."""

    def __init__(self, node: Node) -> None:
        super().__init__(node)
        self._elements: list[Element] | None = None

    def iterate(self, way: Way) -> Iterator[Step]:
        """Yield the kept elements, or keep the input's elements while yielding them."""
        if self._elements is not None:
            yield from self._elements
            return
        elements: list[Element] = []
        has_failed = False
        for step in self.input.iterate(way):
            if isinstance(step, Element):
                elements.append(step)
            else:
                has_failed = True
            yield step
        if not has_failed:
            self._elements = kept(elements)


class CacheFile(Node):
    """Elements kept in a record file, which appears after the first pass that ends without an error.

    The first record describes the structure of the elements in JSON; each further record is one element.
    """

    def __init__(self, node: Node, filename: str) -> None:
        super().__init__(node)
        self._path = filename + SUFFIX

    def iterate(self, way: Way) -> Iterator[Step]:
        """Yield the elements of the file, or write the file while yielding the input's elements."""
        return _read(self._path) if os.path.exists(self._path) else self._write(way)

    def _write(self, way: Way) -> Iterator[Step]:
        with translated(self._path):
            writer = rm.PayloadWriter(self._path, format="tfrecord", index="never")
        is_first, is_complete, has_failed = True, False, False
        try:
            for step in self.input.iterate(way):
                if isinstance(step, Element):
                    if is_first:
                        writer.write(json.dumps(_describe(step.value)).encode())
                        is_first = False
                    writer.write(_pack(step.value))
                else:
                    has_failed = True
                yield step
            is_complete = True
        finally:
            if is_complete and not has_failed:
                writer.close()
            else:
                writer.discard()


def _read(path: str) -> Iterator[Step]:
    records = tf_record_iterator(path)
    first = next(records, None)
    if first is None:
        return
    try:
        structure = _parse_structure(json.loads(first))
    except (ValueError, KeyError, TypeError, RecursionError):
        raise DataLossError(
            "the first record does not describe the elements", shard=path, hint="delete the file to write it again"
        ) from None
    for number, record in enumerate(records, 1):
        try:
            yield Element(_unpack(record, structure))
        except ValueError as error:
            raise DataLossError(f"the record is not a cached element: {error}", shard=path, record=number) from error


def _describe(value: Any) -> Any:
    """Return the structure of an element as JSON values; a leaf is its class and its number of parts."""
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return {"dict": [[key, _describe(one)] for key, one in value.items()]}
    if type(value) is tuple:
        return {"tuple": [_describe(one) for one in value]}
    for name, kind in _CLASSES.items():
        if isinstance(value, kind):
            return {"leaf": [name, len(_split(value))]}
    raise UnimplementedError(
        f"cache(filename) takes elements of tensors in tuples and dicts, got a {type(value).__name__}"
    )


def _parse_structure(description: Any) -> Any:
    """Return a structure whose leaves are lists of a class and a number of parts."""
    if "tuple" in description:
        return tuple(_parse_structure(one) for one in description["tuple"])
    if "dict" in description:
        return {str(key): _parse_structure(one) for key, one in description["dict"]}
    name, num_parts = description["leaf"]
    return [_CLASSES[name], int(num_parts)]


def _split(leaf: Any) -> list[Tensor]:
    """Return the dense tensors that a tensor consists of."""
    if isinstance(leaf, SparseTensor):
        return [leaf.indices, leaf.values, leaf.dense_shape]
    if isinstance(leaf, RaggedTensor):
        return [leaf.flat_values, *leaf.nested_row_splits]
    if isinstance(leaf, RaggedRow):
        return [Tensor(leaf.values), Tensor(np.empty(0, leaf.splits_dtype))]
    return [leaf]


def _join(kind: type, parts: list[Any]) -> Any:
    """Create a tensor from its parts."""
    if kind is SparseTensor:
        return SparseTensor(*parts)
    if kind is RaggedRow:
        return RaggedRow(parts[0].values, parts[1].values.dtype)
    value = parts[0]
    for splits in reversed(parts[1:]):
        value = RaggedTensor(value, splits.values)
    return value


# A RaggedRow is a Tensor, too, and must be found first.
_CLASSES: dict[str, type] = {kind.__name__: kind for kind in (RaggedRow, Tensor, SparseTensor, RaggedTensor)}


def _pack(value: Any) -> bytes:
    """Serialize an element: the dtypes of its parts, then the parts."""
    parts = [part for leaf in leaves(value) for part in _split(leaf)]
    names = [part.dtype.name.encode() for part in parts]
    serialized = [serialize_tensor(part).numpy() for part in parts]
    record: bytes = serialize_tensor(Tensor(array_of(np.array([*names, *serialized], object)))).numpy()
    return record


def _unpack(record: bytes, structure: Any) -> Any:
    strings = parse_tensor(record, "string").values.tolist()
    num_parts = sum(count for _, count in leaves(structure))
    if len(strings) != 2 * num_parts:
        raise ValueError(f"expected {num_parts} tensors, got {len(strings) / 2}")
    names, serialized = strings[:num_parts], strings[num_parts:]
    parts = iter([parse_tensor(part, name.decode()) for name, part in zip(names, serialized, strict=True)])
    joined = [_join(kind, list(islice(parts, count))) for kind, count in leaves(structure)]
    return filled(structure, iter(joined))
