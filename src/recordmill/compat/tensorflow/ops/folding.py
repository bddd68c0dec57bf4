"""Functions called with one row after the other: ``tf.foldl``, ``tf.foldr`` and ``tf.scan``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from recordmill.compat.tensorflow.core.dispatch import op, run
from recordmill.compat.tensorflow.core.tensor import as_tensor
from recordmill.compat.tensorflow.ops import trees

# Hints of TensorFlow that have no influence on results here.
# ruff: noqa: ARG001


def _steps(fn: Callable[..., Any], elems: Any, initializer: Any, backwards: bool) -> Iterator[Any]:
    """What the function gives, row after row; first the row that it begins with, if there is no other value."""
    rows = [list(as_tensor(one)) for one in trees.flatten(elems)]
    found = [trees.pack_sequence_as(elems, list(row)) for row in zip(*rows, strict=True)]
    order = iter(found[::-1] if backwards else found)
    state = trees.map_structure(as_tensor, initializer) if initializer is not None else next(order, None)
    if state is None:
        raise ValueError("there are no rows, and no initializer: give one")
    if initializer is None:
        yield state
    for row in order:
        state = trees.map_structure(as_tensor, fn(state, row))
        yield state


def _last(fn: Callable[..., Any], elems: Any, initializer: Any, *, backwards: bool) -> Any:
    """What the function gives for the last row; without rows, what it begins with."""
    found = trees.map_structure(as_tensor, initializer) if initializer is not None else None
    for state in _steps(fn, elems, initializer, backwards):
        found = state
    return found


@op("control.foldl")
def foldl(
    fn: Callable[..., Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
) -> Any:
    """Call a function on its last result and each row, from the first on."""
    return _last(fn, elems, initializer, backwards=False)


@op("control.foldr")
def foldr(
    fn: Callable[..., Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
) -> Any:
    """Call a function on its last result and each row, from the last on."""
    return _last(fn, elems, initializer, backwards=True)


@op("control.scan")
def scan(
    fn: Callable[..., Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    reverse: bool = False,
) -> Any:
    """Call a function on its last result and each row, and keep all results."""
    states = list(_steps(fn, elems, initializer, reverse))
    columns = zip(*map(trees.flatten, states[::-1] if reverse else states), strict=True)
    return trees.pack_sequence_as(states[0], [run("array.stack", list(column)) for column in columns])
