"""The graph: what is done to values that a session will know."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from recordmill.compat.tensorflow.core.dispatch import BESIDE, run
from recordmill.compat.tensorflow.data.inferring import inferred
from recordmill.compat.tensorflow.data.recorded import Path, frozen, instances, picked, put, recorded_in
from recordmill.compat.tensorflow.data.structures import filled, leaves
from recordmill.compat.tensorflow.graphs.results import results_of
from recordmill.compat.tensorflow.graphs.symbols import Operation, Step, Symbol
from recordmill.compat.tensorflow.ops.specs import TensorSpec
from recordmill.dataclass import dataclass

# Operations whose functions hold values of the graph.
_CLOSURES = frozenset({"control.case", "control.cond", "control.switch_case", "control.while_loop"})


@dataclass(frozen=True, eq=False, slots=True)
class Call:
    """One call of an operation."""

    name: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    outputs: tuple[tuple[int, tuple[Any, ...]], ...]

    def inputs(self) -> set[int]:
        """Numbers of the values that it takes."""
        return {one.number for one in recorded_in((self.args, self.kwargs))}

    def make(self, known: dict[int, Any]) -> None:
        """Run the operation."""
        made = run(self.name, *put(self.args, known), **put(self.kwargs, known))
        for number, keys in self.outputs:
            known[number] = picked(made, Path(keys))


class Graph:
    """Notes the calls that touch values of the graph; all programs of a process share one."""

    def __init__(self) -> None:
        self.steps: list[Step] = []  # by number of the value that each makes
        self.fed: dict[int, Any] = {}  # what placeholders are fed with while operations run
        self.passes: dict[Any, Any] = {}  # how far the running session is with each iterator

    def touches(self, value: Any) -> bool:
        """Whether a value, or one inside it, belongs to the graph."""
        return any(next(instances(value, kind), None) is not None for kind in (Symbol, Operation))

    def note(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Note a call."""
        if name == "control.group":
            return _together(list(instances(args, Operation)))
        if name in _CLOSURES:
            raise NotImplementedError(
                f"tf.{name.partition('.')[2]} of values of a graph is not supported: do it in the function that "
                "is given to Dataset.map"
            )
        args, kwargs = frozen(args), frozen(kwargs)
        result, keys = results_of(name, args, kwargs, inferred(name, args, kwargs))
        first = len(self.steps)
        made = self.add(Call(name, args, kwargs, tuple(zip(range(first, first + len(keys)), keys, strict=True))), keys)
        specs = [one if isinstance(one, TensorSpec) else None for one in leaves(result)]
        for symbol, spec in zip(made, specs, strict=True):
            symbol.spec = spec
        return filled(result, iter(made))

    def add(self, step: Step, values: Iterable[Any]) -> list[Symbol]:
        """Add a step that makes values."""
        made = []
        for _ in values:
            made.append(Symbol(len(self.steps), None))
            self.steps.append(step)
        return made

    def needed(self, numbers: Iterable[int], fed: Iterable[int] = ()) -> Iterator[Step]:
        """Steps behind values, each before those that need it."""
        seen: set[int] = set()
        there, waiting = set(fed), list(numbers)
        while waiting:
            number = waiting.pop()
            if number not in seen and number not in there:
                seen.add(number)
                waiting += self.steps[number].inputs()
        yield from dict.fromkeys(self.steps[number] for number in sorted(seen))

    def values(self, numbers: Iterable[int], known: dict[int, Any]) -> dict[int, Any]:
        """Values by number."""
        found = dict(known)
        for step in self.needed(numbers, known):
            step.make(found)
        return found | known


def _together(operations: list[Operation]) -> Operation:
    def act() -> None:
        for one in operations:
            one.act()

    return Operation(act)


GRAPH = Graph()
BESIDE.insert(0, GRAPH)
