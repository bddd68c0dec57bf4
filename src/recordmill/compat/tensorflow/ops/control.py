"""Conditions, loops and printing. Outside of traced code, all of them run immediately, as in eager execution."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.composite import CompositeTensor
from recordmill.compat.tensorflow.core.dispatch import call_operation, op
from recordmill.compat.tensorflow.core.dtypes import as_dtype
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.ragged import RaggedTensor
from recordmill.compat.tensorflow.core.tensor import Tensor, as_tensor
from recordmill.compat.tensorflow.ops import nest
from recordmill.compat.tensorflow.ops.join import stack
from recordmill.compat.tensorflow.ops.specs import RaggedTensorSpec
from recordmill.compat.tensorflow.ops.tensor_array import TensorArray


@op("control.cond")
def cond(pred: Any, true_fn: Any = None, false_fn: Any = None) -> Any:
    """``tf.cond``: call `true_fn` or `false_fn`."""
    if not callable(true_fn) or not callable(false_fn):
        raise TypeError("cond: true_fn and false_fn must be callable")
    return true_fn() if bool(array_of(pred)) else false_fn()


@op("control.case")
def case(pred_fn_pairs: Any, default: Any = None, exclusive: bool = False, strict: bool = False) -> Any:  # noqa: ARG001
    """``tf.case``: call the function that belongs to the first true condition."""
    pairs = list(pred_fn_pairs.items() if isinstance(pred_fn_pairs, dict) else pred_fn_pairs)
    functions = [function for pred, function in pairs if bool(array_of(pred))]
    if exclusive and len(functions) > 1:
        raise InvalidArgumentError(f"case: at most one condition may be true if exclusive=True, got {len(functions)}")
    if not functions and default is None:
        raise InvalidArgumentError("case: no condition is true, and default is None")
    return functions[0]() if functions else default()


@op("control.switch_case")
def switch_case(branch_index: Any, branch_fns: Any, default: Any = None) -> Any:
    """``tf.switch_case``: call the function with the index `branch_index`.

    For an unknown index, call `default`. If `default` is None, call the function with the largest index instead.
    """
    branches = list(branch_fns.items() if isinstance(branch_fns, dict) else branch_fns)
    pairs = [one if isinstance(one, tuple) else (number, one) for number, one in enumerate(branches)]
    functions: dict[int, Callable[[], Any]] = dict(pairs)
    fallback = functions[max(functions)] if default is None else default
    return functions.get(int(branch_index), fallback)()


@op("control.while_loop")
def while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Any,
    *hints: Any,
    maximum_iterations: Any = None,
    **named_hints: Any,
) -> Any:
    """``tf.while_loop``: call `body` on its own results while `cond` is true; `maximum_iterations` is keyword-only."""
    del hints, named_hints
    remaining = sys.maxsize if maximum_iterations is None else int(maximum_iterations)
    is_single = not isinstance(loop_vars, list | tuple)
    values: Any = [loop_vars] if is_single else loop_vars
    while remaining > 0 and bool(array_of(cond(*values))):
        results = body(*values)
        values = list(results) if isinstance(results, list | tuple) else [results]
        remaining -= 1
    values = nest.map_structure(_convert_loop_variable, values)
    return values[0] if is_single else type(loop_vars)(values) if type(loop_vars) in (list, tuple) else values


def _convert_loop_variable(value: Any) -> Any:
    return value if isinstance(value, CompositeTensor | TensorArray) else as_tensor(value)


@op("control.map_fn")
def map_fn(
    fn: Callable[..., Any],
    elems: Any,
    dtype: Any = None,
    *hints: Any,
    fn_output_signature: Any = None,
    **named_hints: Any,
) -> Any:
    """``tf.map_fn``: call `fn` on each row and stack the results; `fn_output_signature` is keyword-only."""
    del hints, named_hints
    columns = [one if isinstance(one, RaggedTensor) else as_tensor(one) for one in nest.flatten(elems)]
    results = [fn(nest.pack_sequence_as(elems, list(row))) for row in zip(*columns, strict=True)]
    signature = fn_output_signature if fn_output_signature is not None else dtype
    if not results:
        return nest.map_structure(_create_empty_tensor, signature if signature is not None else columns[0].dtype)
    outputs = list(zip(*map(nest.flatten, results), strict=True))
    signatures = [None] * len(outputs) if signature is None else nest.flatten(signature)
    stacked = [_stack_results(list(output), one) for output, one in zip(outputs, signatures, strict=True)]
    return nest.pack_sequence_as(results[0], stacked)


def _stack_results(rows: list[Any], signature: Any) -> Any:
    if isinstance(signature, RaggedTensorSpec) or isinstance(rows[0], RaggedTensor):
        return call_operation("ragged.stack", rows)
    stacked = Tensor(np.stack([array_of(one) for one in rows]))
    return stacked if signature is None else Tensor(array_of(stacked, getattr(signature, "dtype", signature)))


def _create_empty_tensor(signature: Any) -> Tensor:
    return Tensor(np.empty(0, as_dtype(getattr(signature, "dtype", signature)).numpy_dtype))


@op("control.scan")
def scan(
    fn: Callable[..., Any],
    elems: Any,
    initializer: Any = None,
    *hints: Any,
    reverse: bool = False,
    **named_hints: Any,
) -> Any:
    """``tf.scan``: call `fn` on its previous result and the next row; stack all results; `reverse` is keyword-only."""
    del hints, named_hints
    columns = [list(as_tensor(one)) for one in nest.flatten(elems)]
    rows = [nest.pack_sequence_as(elems, list(row)) for row in zip(*columns, strict=True)]
    rows = rows[::-1] if reverse else rows
    if not rows:
        raise ValueError("scan: elems must not be empty")
    states = []
    state = nest.map_structure(as_tensor, rows.pop(0) if initializer is None else initializer)
    if initializer is None:
        states.append(state)
    for row in rows:
        state = nest.map_structure(as_tensor, fn(state, row))
        states.append(state)
    outputs = zip(*map(nest.flatten, states[::-1] if reverse else states), strict=True)
    return nest.pack_sequence_as(states[0], [stack(list(output)) for output in outputs])


@op("control.group")
def group(*inputs: Any) -> None:
    """``tf.group``: do nothing, because the inputs have already been computed."""


@op("control.no_op")
def no_op() -> None:
    """``tf.no_op``: do nothing."""


@op("control.print", always=True)
def print(*inputs: Any, output_stream: Any = None, summarize: Any = 3, sep: str = " ", end: str | None = "\n") -> None:  # noqa: A001
    """``tf.print``: print values; arrays are printed in NumPy's format."""
    edge_items = sys.maxsize if summarize is None or int(summarize) < 0 else int(summarize)
    with np.printoptions(edgeitems=min(edge_items, 1000), threshold=edge_items * 2):
        text = sep.join(str(nest.map_structure(_to_printable, one)) for one in inputs)
    stream = sys.stderr if output_stream is None else output_stream
    if callable(stream):
        stream(text)
    else:
        stream.write(text + ("\n" if end is None else end))


def _to_printable(value: Any) -> Any:
    return value.numpy() if isinstance(value, Tensor) else value
