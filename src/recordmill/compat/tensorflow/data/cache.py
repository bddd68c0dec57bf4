"""Pipeline nodes of ``Dataset.cache``: keep elements after the first complete pass, in memory or in a record file."""

from __future__ import annotations

import io
import json
import math
import os
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

import recordmill as rm
from recordmill.compat.tensorflow.core import dtypes
from recordmill.compat.tensorflow.core.dtypes import as_dtype
from recordmill.compat.tensorflow.core.errors import DataLossError, UnimplementedError
from recordmill.compat.tensorflow.core.ragged import RaggedTensor
from recordmill.compat.tensorflow.core.sparse import SparseTensor
from recordmill.compat.tensorflow.core.tensor import Tensor
from recordmill.compat.tensorflow.data.collate import store_as_rows
from recordmill.compat.tensorflow.data.elements import Element, ExecutionOptions, Node, Step
from recordmill.compat.tensorflow.data.ragged_rows import RaggedRow
from recordmill.compat.tensorflow.files.errors import translate_errors
from recordmill.compat.tensorflow.io.records import tf_record_iterator

# Suffix of cache files. The suffix keeps recordmill from overwriting TensorFlow's cache files.
SUFFIX = ".cache.tfrecord"


class Cache(Node):
    """Elements kept in memory after the first complete pass."""

    def __init__(self, node: Node) -> None:
        super().__init__(node)
        self._elements: list[Element] | None = None

    def iterate(self, execution: ExecutionOptions) -> Iterator[Step]:
        """Yield the cached elements. In the first pass, yield the input's elements and collect them."""
        if self._elements is not None:
            yield from self._elements
            return
        elements: list[Element] = []
        has_failed = False
        for step in self.input.iterate(execution):
            if isinstance(step, Element):
                elements.append(step)
            else:
                has_failed = True
            yield step
        if not has_failed:
            self._elements = store_as_rows(elements)


class CacheFile(Node):
    """Elements kept in a record file, which is created by the first pass that ends without an error."""

    def __init__(self, node: Node, filename: str) -> None:
        super().__init__(node)
        self._path = filename + SUFFIX

    def iterate(self, execution: ExecutionOptions) -> Iterator[Step]:
        """Yield the cached elements. If there is no cache file yet, yield the input's elements and write the file."""
        return self._read_cached_elements() if os.path.exists(self._path) else self._write_while_iterating(execution)

    def _read_cached_elements(self) -> Iterator[Step]:
        for number, record in enumerate(tf_record_iterator(self._path)):
            try:
                yield Element(_deserialize_element(record))
            except (ValueError, LookupError, TypeError, RecursionError) as error:
                hint = "delete the file; the next pass over the dataset writes a new one"
                message = f"the record is not a cached element: {error}"
                raise DataLossError(message, shard=self._path, record=number, hint=hint) from error

    def _write_while_iterating(self, execution: ExecutionOptions) -> Iterator[Step]:
        with translate_errors(self._path):
            writer = rm.PayloadWriter(self._path, format="tfrecord", index="never")
        is_complete = has_failed = False
        try:
            for step in self.input.iterate(execution):
                if isinstance(step, Element):
                    writer.write(_serialize_element(step.value))
                else:
                    has_failed = True
                yield step
            is_complete = True
        finally:
            if is_complete and not has_failed:
                writer.close()
            else:
                writer.discard()


def _serialize_element(value: Any) -> bytes:
    """Serialize an element: its structure as one line of JSON, followed by the bytes of its tensors."""
    content: list[bytes] = []
    structure = json.dumps(_serialize_structure(value, content)).encode()
    return b"".join((structure, b"\n", *content))


def _deserialize_element(record: bytes) -> Any:
    structure, _, content = record.partition(b"\n")
    return _restore_structure(json.loads(structure), io.BytesIO(content))


def _serialize_structure(value: Any, content: list[bytes]) -> Any:
    """Return the structure of an element as JSON values; append the bytes of its tensors to `content`."""
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return {"dict": [[key, _serialize_structure(one, content)] for key, one in value.items()]}
    if type(value) is tuple:
        return {"tuple": [_serialize_structure(one, content) for one in value]}
    for name, kind in _CLASSES.items():
        if isinstance(value, kind):
            return {"leaf": [name, *[_serialize_tensor(part, content) for part in _split_into_dense(value)]]}
    raise UnimplementedError(
        f"cache(filename) supports tensors, tuples, and dicts with str keys, but not {type(value).__name__}"
    )


def _serialize_tensor(part: Tensor, content: list[bytes]) -> list[Any]:
    """Append the bytes of a tensor to `content`; return the dtype, the shape and, for strings, all string lengths."""
    if part.dtype != dtypes.string:
        content.append(part.values.tobytes())
        return [part.dtype.name, part.values.shape]
    strings = part.values.reshape(-1).tolist()
    content += strings
    return ["string", part.values.shape, [len(string) for string in strings]]


def _restore_structure(structure: Any, content: io.BytesIO) -> Any:
    if "dict" in structure:
        return {str(key): _restore_structure(one, content) for key, one in structure["dict"]}
    if "tuple" in structure:
        return tuple(_restore_structure(one, content) for one in structure["tuple"])
    name, *parts = structure["leaf"]
    return _join_from_dense(_CLASSES[name], [_restore_tensor(content, *part) for part in parts])


def _restore_tensor(content: io.BytesIO, name: str, shape: list[int], lengths: list[int] | None = None) -> Tensor:
    if lengths is None:
        dtype = as_dtype(name).numpy_dtype
        array = np.frombuffer(content.read(math.prod(shape) * dtype.itemsize), dtype)
    else:
        array = np.empty(len(lengths), object)
        array[:] = [content.read(length) for length in lengths]
    return Tensor(array.reshape(shape))


def _split_into_dense(leaf: Any) -> list[Tensor]:
    """Split a dense, sparse or ragged tensor into dense tensors."""
    if isinstance(leaf, SparseTensor):
        return [leaf.indices, leaf.values, leaf.dense_shape]
    if isinstance(leaf, RaggedTensor):
        return [leaf.flat_values, *leaf.nested_row_splits]
    if isinstance(leaf, RaggedRow):
        return [Tensor(leaf.values), Tensor(np.empty(0, leaf.splits_dtype))]
    return [leaf]


def _join_from_dense(kind: type, parts: list[Any]) -> Any:
    """Create a tensor of class `kind` from the dense tensors that `_split_into_dense` returned."""
    if kind is SparseTensor:
        return SparseTensor(*parts)
    if kind is RaggedRow:
        return RaggedRow(parts[0].values, parts[1].values.dtype)
    value = parts[0]
    for splits in reversed(parts[1:]):
        value = RaggedTensor(value, splits.values)
    return value


# RaggedRow is a subclass of Tensor and must be matched first.
_CLASSES: dict[str, type] = {kind.__name__: kind for kind in (RaggedRow, Tensor, SparseTensor, RaggedTensor)}
