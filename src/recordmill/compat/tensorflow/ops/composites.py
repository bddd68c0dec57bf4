"""Apply elementwise operations to the values of ragged and sparse tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import numpy as np

from recordmill.compat.tensorflow.core.composite import CompositeTensor
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.ragged import RaggedTensor
from recordmill.compat.tensorflow.core.sparse import SparseTensor
from recordmill.compat.tensorflow.core.tensor import Tensor

P = ParamSpec("P")
R = TypeVar("R")


def elementwise_op(name: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Register an elementwise operation that also accepts ragged and sparse tensors."""
    return op(name, composite=apply_to_values)


def apply_to_values(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call `function` with ragged and sparse arguments replaced by their values; dense arguments must be scalars.

    Ragged arguments must have the same row splits. Only one argument may be sparse.
    """
    composites = [one for one in (*args, *kwargs.values()) if isinstance(one, CompositeTensor)]
    first: Any = composites[0]
    for other in composites[1:]:
        _check_can_combine(first, other)
    for one in (*args, *kwargs.values()):
        if isinstance(one, Tensor | np.ndarray) and one.ndim:
            raise InvalidArgumentError(
                f"a ragged or sparse tensor can only be combined with a dense scalar, got shape {list(one.shape)}"
            )
    result = function(
        *map(_get_composite_values, args), **{key: _get_composite_values(one) for key, one in kwargs.items()}
    )
    return first.with_flat_values(result) if isinstance(first, RaggedTensor) else first.with_values(result)


def _get_composite_values(value: Any) -> Any:
    if isinstance(value, RaggedTensor):
        return value.flat_values
    return value.values if isinstance(value, SparseTensor) else value


def _check_can_combine(first: Any, other: Any) -> None:
    if not isinstance(first, RaggedTensor) or not isinstance(other, RaggedTensor):
        raise TypeError("two sparse tensors cannot be combined; use tf.sparse.to_dense first")
    splits = [[one.values for one in ragged.nested_row_splits] for ragged in (first, other)]
    if len(splits[0]) != len(splits[1]) or not all(map(np.array_equal, *splits)):
        raise InvalidArgumentError("ragged tensors must have the same row splits")
