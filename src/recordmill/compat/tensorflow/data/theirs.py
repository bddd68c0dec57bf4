"""Data sets that TensorFlow saved: the spec that stands beside them, and the elements of their shards.

References
----------
tensorflow/core/protobuf/struct.proto (structured values) and snapshot.proto (field numbers)
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

from recordmill.compat.messages import wire
from recordmill.compat.tensorflow.core.errors import DataLossError, UnimplementedError
from recordmill.compat.tensorflow.core.shapes import TensorShape
from recordmill.compat.tensorflow.data.elements import UNKNOWN_CARDINALITY, Element, Failed, Node, Step, Way
from recordmill.compat.tensorflow.data.structures import filled, leaves
from recordmill.compat.tensorflow.io.records import tf_record_iterator
from recordmill.compat.tensorflow.io.tensor_protos import dtype_numbered, parse_tensor
from recordmill.compat.tensorflow.ops.specs import TensorSpec

SPEC, METADATA = "dataset_spec.pb", "snapshot.metadata"
# Fields of a structured value, of the specs and pairs in it, and of the file that names the run.
_TENSOR_SPEC, _LIST, _TUPLE, _DICT = 33, 51, 52, 53
_SHAPE, _DTYPE = 2, 3
_RUN_ID = 2


class TheirShards(Node):
    """Elements that TensorFlow saved, one shard after the other."""

    def __init__(self, folder: str, spec: Any, compression: str) -> None:
        super().__init__()
        self._spec, self._compression = spec, compression
        self._files = sorted(Path(folder, _run_of(Path(folder, METADATA))).glob("*/*.snapshot"))

    def iterate(self, way: Way) -> Iterator[Step]:  # noqa: ARG002
        """Give them: each tensor of an element is a record."""
        specs = list(leaves(self._spec))
        for path in self._files:
            records = tf_record_iterator(str(path), self._compression)
            for number in count():
                try:
                    parts = [record for _, record in zip(specs, records, strict=False)]
                    if not parts:
                        break
                    if len(parts) < len(specs):
                        raise DataLossError(f"element {number} has {len(parts)} of {len(specs)} parts", shard=str(path))  # noqa: TRY301
                    made = [parse_tensor(part, spec.dtype) for part, spec in zip(parts, specs, strict=True)]
                    yield Element(filled(self._spec, iter(made)))
                except Exception as error:  # noqa: BLE001 (it is told to the caller)
                    yield Failed(error)
                    break

    def cardinality(self) -> int:
        """Not known without reading."""
        return UNKNOWN_CARDINALITY

    def spec(self) -> Any:
        """What was saved."""
        return self._spec

    def sample(self) -> Iterator[Any]:
        """The first ones, as they are."""
        return (step.value for step in self.iterate(Way()) if isinstance(step, Element))


def _run_of(path: Path) -> str:
    """Name of the folder beside a file of TensorFlow's that names it."""
    try:
        found = next((bytes(one).decode() for number, one in _fields(path.read_bytes()) if number == _RUN_ID), "")
    except (ValueError, LookupError, TypeError) as error:
        raise DataLossError(f"it does not tell where the elements are ({error})", shard=str(path)) from None
    return Path(found).name


def is_theirs(folder: str) -> bool:
    """Whether TensorFlow saved what a folder holds."""
    return all(os.path.exists(os.path.join(folder, name)) for name in (SPEC, METADATA))


def spec_of_theirs(folder: str) -> Any:
    """Read the specs that TensorFlow put beside a data set."""
    path = Path(folder, SPEC)
    try:
        return _structure(path.read_bytes(), str(path))
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        if isinstance(error, UnimplementedError | DataLossError):
            raise
        raise DataLossError(f"it does not tell the elements' form ({error})", shard=str(path)) from None


def _structure(data: bytes, path: str) -> Any:
    for number, content in _fields(data):
        if number == _TENSOR_SPEC:
            return _tensor_spec(content)
        if number in (_TUPLE, _LIST):
            return tuple(_structure(one, path) for _, one in _fields(content))
        if number == _DICT:
            pairs = [dict(_fields(one)) for _, one in _fields(content)]
            return {pair[1].decode(): _structure(pair[2], path) for pair in sorted(pairs, key=lambda pair: pair[1])}
        break
    raise UnimplementedError(
        f"{path} tells of elements that hold something else than dense tensors in tuples and dicts, which are not read "
        "from what TensorFlow saved: write them to TFRecord files with TensorFlow once"
    )


def _tensor_spec(data: bytes) -> TensorSpec:
    parts: dict[int, Any] = dict(_fields(data))
    shape = list(_fields(parts.get(_SHAPE, b"")))
    sizes = [dict(_fields(one)).get(1, 0) for number, one in shape if number == 2]
    unknown = any(number == 3 for number, _ in shape)
    lengths = None if unknown else [None if wire.signed(one) < 0 else one for one in sizes]
    return TensorSpec(TensorShape(lengths), dtype_numbered(parts[_DTYPE]))


def _fields(data: bytes) -> Iterator[tuple[int, Any]]:
    """Numbers of fields, and their whole numbers or contents."""
    at = 0
    while at < len(data):
        tag, at = wire.read_varint(data, at, len(data))
        value, at = wire.read_varint(data, at, len(data))
        if tag & 7 == wire.BYTES:
            if at + value > len(data):
                raise ValueError("a field is longer than its message")
            yield tag >> 3, data[at : at + value]
            at += value
        elif tag & 7 == wire.VARINT:
            yield tag >> 3, value
        else:
            raise ValueError(f"a field of kind {tag & 7}")
