"""Functions of TensorFlow 1 that took other arguments than those that followed them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.dtypes import float32
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.sparse import SparseTensor, to_dense
from recordmill.compat.tensorflow.core.tensor import Tensor, as_tensor
from recordmill.compat.tensorflow.io import raw
from recordmill.compat.tensorflow.ops.arithmetic import floordiv, truediv
from recordmill.compat.tensorflow.ops.numerals import to_number
from recordmill.compat.tensorflow.ops.texts import strings_of


@op("strings.older_split")
def string_split(
    source: Any, sep: Any = None, skip_empty: bool = True, delimiter: Any = None, result_type: str = "SparseTensor"
) -> SparseTensor:
    """Pieces of strings between single bytes, as a sparse tensor."""
    if result_type != "SparseTensor":
        raise NotImplementedError(
            f"tf.string_split(result_type={result_type!r}) is not supported: use tf.strings.split"
        )
    array = strings_of(source, "StringSplit")
    if array.ndim != 1:
        raise ValueError(f"Shape must be rank 1 but is rank {array.ndim} for StringSplit: use tf.string_split([line])")
    given = delimiter if sep is None else sep
    cut = _cutter(b" " if given is None else bytes(strings_of(given, "StringSplit")[()]), skip_empty)
    rows = [cut(one) for one in array.tolist()]
    indices = [(row, place) for row, pieces in enumerate(rows) for place in range(len(pieces))]
    values = np.empty(len(indices), object)
    values[:] = [piece for pieces in rows for piece in pieces]
    shape = [len(rows), max(map(len, rows), default=0)]
    return SparseTensor(np.array(indices, np.int64).reshape(-1, 2), Tensor(values), np.array(shape, np.int64))


def _cutter(marks: bytes, skip_empty: bool) -> Callable[[bytes], list[bytes]]:
    table = bytes.maketrans(marks, marks[:1] * len(marks))

    def cut(text: bytes) -> list[bytes]:
        if not marks:
            return [text[at : at + 1] for at in range(len(text))]
        pieces = text.translate(table).split(marks[:1])
        return [piece for piece in pieces if piece] if skip_empty else pieces

    return cut


def decode_raw(
    input_bytes: Any = None,
    out_type: Any = None,
    little_endian: bool = True,
    name: Any = None,
    bytes: Any = None,  # noqa: A002
) -> Tensor:
    """Take byte strings for numbers; as ``tf.io.decode_raw``."""
    del name
    return raw.decode_raw(input_bytes if bytes is None else bytes, out_type, little_endian)


def string_to_number(
    string_tensor: Any = None,
    out_type: Any = float32,
    name: Any = None,
    input: Any = None,  # noqa: A002
) -> Tensor:
    """Read numbers; as ``tf.strings.to_number``."""
    del name
    return to_number(string_tensor if input is None else input, out_type)


@op("sparse.older_to_dense")
def sparse_to_dense(
    sparse_indices: Any,
    output_shape: Any,
    sparse_values: Any,
    default_value: Any = 0,
    validate_indices: bool = True,
) -> Tensor:
    """Array with values at indices."""
    shape, values = array_of(output_shape).astype(np.int64).ravel(), as_tensor(sparse_values)
    places = array_of(sparse_indices).astype(np.int64)
    places = places.reshape(-1, 1) if places.ndim < 2 else places
    if places.ndim != 2 or places.shape[1] != len(shape) or values.shape.as_list() not in ([], [len(places)]):
        raise InvalidArgumentError(
            f"sparse_indices of shape (n, rank), output_shape of shape (rank,) and sparse_values of shape (n,) or () "
            f"belong together, not {places.shape}, {shape.shape} and {values.shape} [Op:SparseToDense]"
        )
    spread = Tensor(np.broadcast_to(values.values, len(places)).copy())
    default = as_tensor(default_value, values.dtype)
    return to_dense(SparseTensor(places, spread, shape), default, validate_indices)


def div(x: Any, y: Any, name: Any = None) -> Any:
    """Quotient; that of whole numbers is rounded down."""
    del name
    kind = getattr(x, "dtype", None) or getattr(y, "dtype", None) or as_tensor(x).dtype
    return truediv(x, y) if kind.is_floating else floordiv(x, y)
