"""Graph of TensorFlow 1: symbolic tensors, and the steps that compute their values when a session runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn, Protocol

from recordmill.compat.tensorflow.core.dispatch import LIBRARIES, call_operation, op
from recordmill.compat.tensorflow.core.dtypes import DType, as_dtype
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.shapes import TensorShape
from recordmill.compat.tensorflow.data.infer_specs import infer_specs
from recordmill.compat.tensorflow.data.structures import leaves, pack_structure
from recordmill.compat.tensorflow.data.symbolic import (
    SymbolicTensor,
    copy_containers,
    find_instances,
    find_symbolic,
    substitute_symbols,
    value_at_path,
)
from recordmill.compat.tensorflow.io.parsing import ordered_feature_names
from recordmill.compat.tensorflow.ops.specs import TensorSpec

# Attributes of sparse and ragged tensors that are dense tensors. A `Symbol` returns a symbolic tensor for each of them.
_COMPONENTS = frozenset({"values", "indices", "dense_shape", "flat_values", "row_splits"})
# Operations that take functions are not supported, because symbolic tensors in these functions are not tracked.
_WITH_FUNCTIONS = frozenset({"control.case", "control.cond", "control.switch_case", "control.while_loop"})
# Stack of default sessions; the last one belongs to the innermost ``with`` block.
DEFAULT_SESSIONS: list[Any] = []


class GraphStep(Protocol):
    """Interface of graph steps. A step computes one or more values; each value has a number."""

    def inputs(self) -> set[int]:
        """Return the numbers that identify the step's input values."""

    def compute(self, known: dict[int, Any]) -> None:
        """Compute the values of the step, and store each value in the dict `known` under its number."""


class Symbol(SymbolicTensor):
    """Symbolic tensor of a TensorFlow 1 graph. A session computes its value."""

    __slots__ = ()
    of_graph = True

    @property
    def dtype(self) -> DType:
        """Dtype; raises AttributeError if it is unknown."""
        if self.spec is None:
            raise self._create_attribute_error("dtype", "a symbolic tensor has no known dtype")
        return self.spec.dtype

    @property
    def shape(self) -> TensorShape:
        """Shape; lengths that are unknown are None."""
        return TensorShape(None) if self.spec is None else self.spec.shape

    def eval(self, feed_dict: Any = None, session: Any = None) -> Any:
        """Return the value, computed by `session` or by the default session."""
        return (session or require_default_session()).run(self, feed_dict)

    def _create_attribute_error(self, name: str, problem: str) -> AttributeError:
        message = f"{problem}; compute the value of the tensor with tf.Session().run first"
        return AttributeError(message, name=name, obj=self)

    def __getattr__(self, name: str) -> Any:
        """Return a component, such as `indices`, of a sparse or ragged tensor as a symbolic tensor."""
        if name in _COMPONENTS:
            return call_operation("graph.component", self, name)
        raise self._create_attribute_error(name, f"a symbolic tensor has no attribute {name!r}")

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NoReturn:
        raise NotImplementedError(
            "a symbolic tensor has no value until a session runs; compute it with tf.Session().run, or move this code "
            "into a function that you pass to Dataset.map"
        )

    def _raise_no_value(self) -> NoReturn:
        raise TypeError(
            "A symbolic `tf.Tensor` cannot be used as a Python bool, number or sequence; compute its value with "
            "tf.Session().run"
        )

    __bool__ = __iter__ = __len__ = __int__ = __float__ = __index__ = _raise_no_value

    def __eq__(self, other: object) -> bool:
        """Compare symbolic tensors by identity, as TensorFlow 1 does."""
        return self is other

    def __ne__(self, other: object) -> bool:
        return self is not other

    def __hash__(self) -> int:  # type: ignore[override]
        return hash((Symbol, self.number))

    def __repr__(self) -> str:
        known = "unknown" if self.spec is None else f"shape={self.spec.shape}, dtype={self.spec.dtype.name}"
        return f"<tf.Tensor 'value_{self.number}:0' {known}>"


class Operation:
    """Operation that returns no value. A session runs the operation for its side effect."""

    def __init__(self, execute: Callable[[], Any] | None = None) -> None:
        self.execute = execute or (lambda: None)

    def run(self, feed_dict: Any = None, session: Any = None) -> None:
        """Run the operation in `session` or in the default session."""
        (session or require_default_session()).run(self, feed_dict)


def require_default_session() -> Any:
    """Return the session of the innermost ``with`` block; raise ValueError if there is none."""
    if not DEFAULT_SESSIONS:
        raise ValueError("No default session is registered. Use `with sess.as_default()` or pass `eval(session=sess)`.")
    return DEFAULT_SESSIONS[-1]


@op("graph.component")
def get_component(value: Any, name: str) -> Any:
    """Return a component, such as "indices", of a sparse or ragged tensor."""
    return getattr(value, name)


@dataclass(frozen=True, eq=False, slots=True)
class OperationStep:
    """Step that calls an operation on the values of symbolic tensors."""

    name: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    outputs: tuple[tuple[int, tuple[Any, ...]], ...]

    def inputs(self) -> set[int]:
        return {one.number for one in find_symbolic((self.args, self.kwargs))}

    def compute(self, known: dict[int, Any]) -> None:
        result = call_operation(
            self.name, *substitute_symbols(self.args, known), **substitute_symbols(self.kwargs, known)
        )
        for number, keys in self.outputs:
            known[number] = value_at_path(result, keys)


class OperationGraph:
    """The only graph of the process. It records calls on symbolic tensors and is registered in `dispatch.LIBRARIES`."""

    def __init__(self) -> None:
        self.steps: list[GraphStep] = []  # Element i is the step that computes value number i.
        self.fed: dict[int, Any] = {}  # Maps numbers to the values that are fed to the running session.
        self.iterators: dict[Any, Any] = {}  # Maps each `GraphIterator` to its iterator in the running session.

    def owns_value(self, value: Any) -> bool:
        """Return whether arguments contain symbolic tensors or operations of the graph."""
        return any(next(find_instances(value, kind), None) is not None for kind in (Symbol, Operation))

    def handle_call(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Record a call, and return symbolic tensors for its results."""
        if name == "control.group":
            return _make_group_operation(list(find_instances(args, Operation)))
        if name in _WITH_FUNCTIONS:
            raise NotImplementedError(
                f"tf.{name.partition('.')[2]} does not support symbolic tensors; call it in a function that you pass "
                "to Dataset.map"
            )
        args, kwargs = copy_containers(args), copy_containers(kwargs)
        structure = _find_result_structure(name, args, kwargs)
        keys, first = list(_list_leaf_paths(structure)), len(self.steps)
        outputs = tuple(zip(range(first, first + len(keys)), keys, strict=True))
        specs = [one if isinstance(one, TensorSpec) else None for one in leaves(structure)]
        return pack_structure(structure, iter(self.add_step(OperationStep(name, args, kwargs, outputs), specs)))

    def add_step(self, step: GraphStep, specs: Iterable[TensorSpec | None]) -> list[Symbol]:
        """Add a step to the graph. Return one symbolic tensor for each value that the step computes."""
        symbols = []
        for spec in specs:
            symbols.append(Symbol(len(self.steps), spec))
            self.steps.append(step)
        return symbols

    def find_steps(self, numbers: Iterable[int], fed: Iterable[int] = ()) -> Iterator[GraphStep]:
        """Yield the steps that compute the values with the given `numbers`, in execution order.

        Values whose numbers are in `fed` are already known. No steps are needed for them.
        """
        seen: set[int] = set()
        available, pending = set(fed), list(numbers)
        while pending:
            number = pending.pop()
            if number not in seen and number not in available:
                seen.add(number)
                pending += self.steps[number].inputs()
        yield from dict.fromkeys(self.steps[number] for number in sorted(seen))

    def compute_values(self, numbers: Iterable[int], known: dict[int, Any]) -> dict[int, Any]:
        """Compute the values with the given `numbers`; values in `known` are not computed again."""
        found = dict(known)
        for step in self.find_steps(numbers, known):
            step.compute(found)
        return found | known


def _make_group_operation(operations: list[Operation]) -> Operation:
    def run_operations() -> None:
        for one in operations:
            one.execute()

    return Operation(run_operations)


def _find_result_structure(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return the structure of a call's result. Each leaf is the spec of a tensor, or None if the spec is unknown."""
    structure = infer_specs(name, args, kwargs)
    if structure is None and name in _STRUCTURES:
        structure = _STRUCTURES[name](*args, **kwargs)
    return tuple(structure) if isinstance(structure, list) else structure


def _list_leaf_paths(structure: Any) -> Iterator[tuple[Any, ...]]:
    """Yield the path of each leaf as a tuple of keys and indices, in the order in which `leaves` visits the leaves."""
    if isinstance(structure, tuple | Mapping):
        pairs = enumerate(structure) if isinstance(structure, tuple) else sorted(structure.items())
        return iter([(key, *more) for key, one in pairs for more in _list_leaf_paths(one)])
    return iter([()])


def _infer_sequence_example_structure(
    serialized: Any, context_features: Any = None, sequence_features: Any = None, *unused: Any, **others: Any
) -> Any:
    del serialized, unused, others
    return tuple(
        dict.fromkeys(ordered_feature_names(one)) if one else {} for one in (context_features, sequence_features)
    )


def _infer_split_structure(value: Any, num_or_size_splits: Any, *unused: Any, **others: Any) -> Any:
    del value, unused, others
    return (None,) * (num_or_size_splits if isinstance(num_or_size_splits, int) else len(num_or_size_splits))


def _infer_unstack_structure(value: Any, num: Any = None, axis: int = 0) -> Any:
    count = value.shape[axis] if num is None else num
    if count is None:
        raise ValueError(f"Cannot infer argument `num` from shape {value.shape}")
    return (None,) * int(count)


def _create_structure_function(count: int) -> Callable[..., Any]:
    return lambda *unused, **others: (None,) * count  # noqa: ARG005


# Maps each operation with several results to the function that returns the structure of these results.
_STRUCTURES: dict[str, Callable[..., Any]] = {
    "array.split": _infer_split_structure,
    "array.unique": _create_structure_function(2),
    "array.unique_with_counts": _create_structure_function(3),
    "array.unstack": _infer_unstack_structure,
    "image.sample_distorted_bounding_box": _create_structure_function(3),
    "io.parse_single_sequence_example": _infer_sequence_example_structure,
    "math.top_k": _create_structure_function(2),
}


@dataclass(frozen=True, eq=False, slots=True)
class PlaceholderStep:
    """Step of a placeholder, whose value the program must feed."""

    number: int
    spec: TensorSpec

    def inputs(self) -> set[int]:
        return set()

    def compute(self, known: dict[int, Any]) -> NoReturn:
        del known
        raise InvalidArgumentError(
            f"You must feed a value for placeholder tensor 'value_{self.number}' with dtype {self.spec.dtype.name} "
            f"and shape {self.spec.shape}"
        )


def placeholder(dtype: Any, shape: Any = None, name: Any = None) -> Symbol:
    """``tf.placeholder``: return a symbolic tensor, whose value is passed in ``feed_dict``."""
    del name
    spec = TensorSpec(shape, as_dtype(dtype))
    return GRAPH.add_step(PlaceholderStep(len(GRAPH.steps), spec), [spec])[0]


def global_variables_initializer() -> Operation:
    """``tf.global_variables_initializer``: return an operation without effect; variables need no initialization."""
    return Operation()


local_variables_initializer = tables_initializer = global_variables_initializer
initialize_all_variables = initialize_local_variables = initialize_all_tables = global_variables_initializer
GRAPH = OperationGraph()
LIBRARIES.insert(0, GRAPH)
