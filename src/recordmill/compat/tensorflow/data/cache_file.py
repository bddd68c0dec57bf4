"""``Dataset.cache(filename)``: elements kept in a record file after the first whole pass, also for later programs."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

import recordmill as rm
from recordmill.compat.tensorflow.core.dtypes import string
from recordmill.compat.tensorflow.core.errors import DataLossError, UnimplementedError
from recordmill.compat.tensorflow.core.tensor import Tensor, array_of
from recordmill.compat.tensorflow.data.elements import Element, Node, Step, Way
from recordmill.compat.tensorflow.data.structures import filled, leaves
from recordmill.compat.tensorflow.files.faults import translated
from recordmill.compat.tensorflow.io.records import tf_record_iterator
from recordmill.compat.tensorflow.io.tensor_protos import parse_tensor, serialize_tensor

# Behind the given name, so that TensorFlow's own cache files of that name are left alone.
SUFFIX = ".cache.tfrecord"


class CacheFile(Node):
    """Elements kept in a file, which appears when a pass came to its end without an error.

    Parameters
    ----------
    node : Node
    filename : str
        To which `SUFFIX` is added.
    """

    def __init__(self, node: Node, filename: str) -> None:
        super().__init__(node)
        self._path = filename + SUFFIX

    def iterate(self, way: Way) -> Iterator[Step]:
        """Give the kept ones, or keep while giving."""
        return _stored(self._path) if os.path.exists(self._path) else self._storing(way)

    def _storing(self, way: Way) -> Iterator[Step]:
        with translated(self._path):
            records = rm.PayloadWriter(self._path, format="tfrecord", index="never")
        is_first, sound, ended = True, True, False
        try:
            for element in self.input.iterate(way):
                if isinstance(element, Element):
                    if is_first:
                        records.write(json.dumps(_form(element.value)).encode())
                        is_first = False
                    records.write(_packed(element.value))
                else:
                    sound = False
                yield element
            ended = True
        finally:
            if ended and sound:
                records.close()
            else:
                records.discard()


def _stored(path: str) -> Iterator[Step]:
    records = tf_record_iterator(path)
    first = next(records, None)
    if first is None:
        return
    try:
        form, dtypes = _empty(json.loads(first)), json.loads(first)["dtypes"]
    except (ValueError, KeyError, TypeError):
        raise DataLossError(
            "it does not begin with the form of its elements", shard=path, hint="remove it, and it is made again"
        ) from None
    for record in records:
        parts = parse_tensor(record, string).values
        values = [parse_tensor(part, dtype) for part, dtype in zip(parts, dtypes, strict=True)]
        yield Element(filled(form, iter(values)))


def _packed(value: Any) -> bytes:
    parts = [serialize_tensor(leaf).numpy() for leaf in leaves(value)]
    packed: bytes = serialize_tensor(Tensor(array_of(np.array(parts, object)))).numpy()
    return packed


def _form(value: Any) -> dict[str, Any]:
    return {"form": _nesting(value), "dtypes": [leaf.dtype.name for leaf in leaves(value)]}


def _nesting(value: Any) -> Any:
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return {"dict": [[key, _nesting(one)] for key, one in value.items()]}
    if type(value) is tuple:
        return {"tuple": [_nesting(one) for one in value]}
    if isinstance(value, Tensor):
        return None
    raise UnimplementedError(
        f"cache(filename) is not supported for elements that hold a {type(value).__name__}: use tuples and dicts of "
        "dense tensors, or leave the name out"
    )


def _empty(told: dict[str, Any]) -> Any:
    def made(form: Any) -> Any:
        if form is None:
            return None
        if "tuple" in form:
            return tuple(made(one) for one in form["tuple"])
        return {key: made(one) for key, one in form["dict"]}

    return made(told["form"])
