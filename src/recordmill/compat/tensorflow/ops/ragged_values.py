"""Operations on the values of ragged tensors, whose rows stay as they are; a few of sparse ones, too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.core import row_splits as parts
from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.composite import Composite
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.operators import Operators
from recordmill.compat.tensorflow.core.ragged import RaggedTensor
from recordmill.compat.tensorflow.core.sparse import SparseTensor
from recordmill.compat.tensorflow.core.tensor import Tensor, wrap

Operation = Callable[..., Any]


def of_values(operation: Operation, *args: Any, **kwargs: Any) -> Any:
    """Do something to each value of the first argument."""
    if args and isinstance(args[0], Composite):
        return on_values(args[0], lambda values: operation(values, *args[1:], **kwargs))
    first = next((key for key, one in kwargs.items() if isinstance(one, Composite)), None)
    if args or first is None:
        raise TypeError("only the first argument may be a ragged or sparse tensor here: make it dense with to_tensor()")
    return on_values(kwargs[first], lambda values: operation(**{**kwargs, first: values}))


def on_values(given: Any, compute: Operation) -> Any:
    """Do something to the values of a ragged or sparse tensor."""
    if isinstance(given, RaggedTensor):
        return given.with_flat_values(compute(given.flat_values))
    return given.with_values(compute(given.values))


def of_deeper_values(operation: Operation, first: Any, *args: Any, **kwargs: Any) -> Any:
    """Make rows of each value of a ragged tensor."""
    return on_values(_ragged(first), lambda values: operation(values, *args, **kwargs))


def of_pairs(operation: Operation, *args: Any, **kwargs: Any) -> Any:
    """Do something to values side by side; dense tensors broadcast to the rows."""
    given = [*args, *kwargs.values()]
    base = next((one for one in given if isinstance(one, RaggedTensor)), None)
    if base is None:
        return _of_sparse(operation, *args, **kwargs)
    if len(given) == 1:
        raise TypeError("a ragged tensor is not taken here: make it dense with to_tensor()")
    flat = [_beside(base, one) for one in args]
    named = {key: _beside(base, one) for key, one in kwargs.items()}
    return base.with_flat_values(operation(*flat, **named))


def _of_sparse(operation: Operation, x: Any, y: Any) -> SparseTensor:
    if not isinstance(x, SparseTensor) or isinstance(y, SparseTensor):
        raise TypeError("arithmetic of sparse tensors is a product with, or a quotient by, a dense one: use to_dense()")
    if not isinstance(y, Tensor | np.ndarray):
        return x.with_values(operation(x.values, y))
    whole = np.broadcast_to(array_of(y), tuple(x.dense_shape.values.tolist()))
    return x.with_values(operation(x.values, Tensor(whole[tuple(x.indices.values.T)])))


def _beside(base: RaggedTensor, other: Any) -> Any:
    """Values of another tensor, each beside the value of `base` that it belongs to."""
    if isinstance(other, RaggedTensor):
        mine, theirs = ([one.values for one in ragged.nested_row_splits] for ragged in (base, other))
        if len(mine) != len(theirs) or not all(map(np.array_equal, mine, theirs)):
            raise InvalidArgumentError(
                "Condition x == y did not hold: the ragged tensors have other rows, "
                f"{[one.tolist() for one in mine]} and {[one.tolist() for one in theirs]}"
            )
        return other.flat_values
    if not isinstance(other, Operators | np.ndarray | list | tuple):
        return other
    array = array_of(other)
    return Tensor(_spread(base, array)) if array.ndim else other


def _spread(base: RaggedTensor, array: NDArray[Any]) -> NDArray[Any]:
    nested = [one.values for one in base.nested_row_splits]
    depth, inner = len(nested) + 1, base.flat_values.values.ndim - 1
    if array.ndim > depth + inner:
        raise InvalidArgumentError(
            f"a tensor of {array.ndim} axes does not broadcast to a ragged one of {depth + inner}"
        )
    array = array.reshape((1,) * (depth + inner - array.ndim) + array.shape)
    lengths = [np.array([len(base)]), *(np.diff(splits) for splits in nested)]
    for axis, (length, found) in enumerate(zip(array.shape, lengths, strict=False)):
        if length != 1 and (found != length).any():
            raise InvalidArgumentError(
                f"Condition x == y did not hold: rows of axis {axis} have the lengths {found.tolist()}, not {length}"
            )
    places = parts.positions(nested)
    picked: NDArray[Any] = array[tuple(at if array.shape[axis] != 1 else 0 for axis, at in enumerate(places))]
    return picked


def one_hot(operation: Operation, indices: Any, depth: Any, *args: Any, **kwargs: Any) -> Any:
    """Rows with one value at the place that an index names."""
    if kwargs.get("axis") not in (None, -1) or len(args) > 2:
        raise NotImplementedError("one_hot of a ragged tensor is supported along axis -1 only")
    return on_values(_ragged(indices), lambda values: operation(values, depth, *args, **kwargs))


def size(operation: Operation, input: Any, *args: Any, **kwargs: Any) -> Tensor:  # noqa: A002 (TensorFlow's name)
    """Count values."""
    result: Tensor = operation(_ragged(input).flat_values, *args, **kwargs)
    return result


def rank(operation: Operation, input: Any) -> Tensor:  # noqa: A002 (TensorFlow's name)
    """Count axes."""
    del operation
    return wrap(np.int32(len(input.shape.as_list())))


def found(operation: Operation, table: Any, keys: Any, *args: Any) -> Any:
    """Look keys up."""
    return on_values(keys, lambda values: operation(table, values, *args))


def strings_joined(operation: Operation, inputs: Any, separator: Any = "") -> Any:
    """Put strings of several tensors together."""
    base = next(one for one in inputs if isinstance(one, Composite))
    flat = [_beside(_ragged(base), one) for one in inputs]
    return base.with_flat_values(operation(flat, separator))


def strings_of_rows(
    operation: Operation, inputs: Any, axis: Any = None, keepdims: bool = False, separator: Any = ""
) -> Any:
    """Put the strings of each row together, or all of them."""
    ragged = _ragged(inputs)
    if axis is None:
        return operation(ragged.flat_values, None, keepdims, separator)
    last = len(ragged.shape.as_list()) - 1
    if int(array_of(axis).item()) not in (-1, last) or ragged.flat_values.ndim > 1 or keepdims:
        raise NotImplementedError("reduce_join of a ragged tensor is supported along its last axis, without keepdims")
    if isinstance(ragged.values, RaggedTensor):
        return ragged.with_values(strings_of_rows(operation, ragged.values, -1, False, separator))
    between = separator.encode() if isinstance(separator, str) else separator
    out = np.empty(len(ragged), object)
    out[:] = [between.join(row) for row in ragged.to_list()]
    return Tensor(out)


def _ragged(given: Any) -> RaggedTensor:
    if not isinstance(given, RaggedTensor):
        raise TypeError(f"a {type(given).__name__} is not taken here: make it dense")
    return given
