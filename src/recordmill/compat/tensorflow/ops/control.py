"""Choices, loops and things done on the way, run at once as TensorFlow's eager execution does."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.composite import Composite
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.dtypes import as_dtype
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.ragged import RaggedTensor, stack as ragged_stack
from recordmill.compat.tensorflow.core.tensor import Tensor, as_tensor
from recordmill.compat.tensorflow.ops import told, trees
from recordmill.compat.tensorflow.ops.specs import RaggedTensorSpec
from recordmill.compat.tensorflow.ops.tensor_array import TensorArray


@op("control.cond")
def cond(pred: Any, true_fn: Any = None, false_fn: Any = None) -> Any:
    """Call one of two functions."""
    for name, function in (("true_fn", true_fn), ("false_fn", false_fn)):
        if not callable(function):
            raise TypeError(f"'{name}' must be callable.")
    return true_fn() if bool(array_of(pred)) else false_fn()


@op("control.case")
def case(pred_fn_pairs: Any, default: Any = None, exclusive: bool = False, strict: bool = False) -> Any:  # noqa: ARG001
    """Call the function of the first condition that holds."""
    pairs = list(pred_fn_pairs.items() if isinstance(pred_fn_pairs, dict) else pred_fn_pairs)
    held = [function for pred, function in pairs if bool(array_of(pred))]
    if exclusive and len(held) > 1:
        raise InvalidArgumentError("Input error: exclusive=True: more than 1 conditions evaluated as True.")
    if held:
        return held[0]()
    if default is None:
        raise InvalidArgumentError("Input error: None of conditions evaluated as True")
    return default()


@op("control.switch_case")
def switch_case(branch_index: Any, branch_fns: Any, default: Any = None) -> Any:
    """Call a function by its number; the default, or the one of the largest number, for any other number."""
    pairs: list[Any] = list(branch_fns.items() if isinstance(branch_fns, dict) else branch_fns)
    functions: dict[int, Callable[[], Any]] = dict(
        pair if isinstance(pair, tuple) else (place, pair) for place, pair in enumerate(pairs)
    )
    last = functions[max(functions)] if default is None else default
    return functions.get(int(branch_index), last)()


@op("control.while_loop")
def while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Any,
    shape_invariants: Any = None,  # noqa: ARG001 (hint)
    parallel_iterations: int = 10,  # noqa: ARG001 (hint)
    back_prop: bool = True,  # noqa: ARG001 (hint)
    swap_memory: bool = False,  # noqa: ARG001 (hint)
    maximum_iterations: Any = None,
) -> Any:
    """Call a function on its own results as long as a condition holds."""
    left = sys.maxsize if maximum_iterations is None else int(maximum_iterations)
    single = not isinstance(loop_vars, list | tuple)
    values: Any = [loop_vars] if single else loop_vars
    while left > 0 and bool(array_of(cond(*values))):
        found = body(*values)
        values = list(found) if isinstance(found, list | tuple) else [found]
        left -= 1
    values = trees.map_structure(_as_value, values)
    return values[0] if single else type(loop_vars)(values) if type(loop_vars) in (list, tuple) else values


def _as_value(one: Any) -> Any:
    """A tensor; ragged and sparse tensors and arrays of tensors stay what they are."""
    return one if isinstance(one, Composite | TensorArray) else as_tensor(one)


@op("control.map_fn")
def map_fn(
    fn: Callable[..., Any],
    elems: Any,
    dtype: Any = None,
    parallel_iterations: Any = None,  # noqa: ARG001 (hint)
    back_prop: bool = True,  # noqa: ARG001 (hint)
    swap_memory: bool = False,  # noqa: ARG001 (hint)
    infer_shape: bool = True,  # noqa: ARG001 (hint)
    fn_output_signature: Any = None,
) -> Any:
    """Call a function on each row and stack its results."""
    rows = [one if isinstance(one, RaggedTensor) else as_tensor(one) for one in trees.flatten(elems)]
    results = [fn(trees.pack_sequence_as(elems, list(row))) for row in zip(*rows, strict=True)]
    signature = fn_output_signature if fn_output_signature is not None else dtype
    if not results:
        return trees.map_structure(_empty, signature if signature is not None else rows[0].dtype)
    columns = list(zip(*map(trees.flatten, results), strict=True))
    wanted = [None] * len(columns) if signature is None else trees.flatten(signature)
    stacked = [_stacked(column, one) for column, one in zip(columns, wanted, strict=True)]
    return trees.pack_sequence_as(results[0], stacked)


def _stacked(column: Any, signature: Any) -> Any:
    if isinstance(signature, RaggedTensorSpec) or isinstance(column[0], RaggedTensor):
        return ragged_stack(list(column))
    found = Tensor(np.stack([array_of(one) for one in column]))
    return found if signature is None else Tensor(array_of(found, getattr(signature, "dtype", signature)))


@op("control.vectorized_map")
def vectorized_map(fn: Callable[..., Any], elems: Any, fallback_to_while_loop: bool = True) -> Any:  # noqa: ARG001
    """Call a function on each row and stack its results; one row after the other."""
    return map_fn(fn, elems)


def _empty(signature: Any) -> Tensor:
    return Tensor(np.empty(0, as_dtype(getattr(signature, "dtype", signature)).numpy_dtype))


@op("control.group")
def group(*inputs: Any) -> None:
    """Nothing: what is given is done already."""


@op("control.no_op")
def no_op() -> None:
    """Nothing."""


@op("control.timestamp", always=True)
def timestamp() -> Tensor:
    """Seconds since the epoch, at the moment of the call; also for each element of a data set."""
    return Tensor(np.array(time.time()))


@op("control.print", always=True)
def print(*inputs: Any, output_stream: Any = None, summarize: Any = 3, sep: str = " ", end: str | None = "\n") -> None:  # noqa: A001
    """Print values."""
    ends = -1 if summarize is None else int(summarize)
    texts = [told.printed(one, ends) for one in inputs]
    text = sep.join(texts) + ("\n" if end is None else end)
    if isinstance(output_stream, str):
        _append(output_stream, text)
    elif callable(output_stream):
        output_stream(sep.join(texts))
    else:
        (sys.stderr if output_stream is None else output_stream).write(text)


def _append(address: str, text: str) -> None:
    if not address.startswith("file://"):
        raise ValueError(f"output_stream is a file object, a logging function or 'file://' and a path, not {address!r}")
    with open(address.removeprefix("file://"), "a", encoding="utf-8") as file:
        file.write(text)
