"""A map function called once with values that note what is done to them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from recordmill.compat.tensorflow.core.dispatch import RECORDING, operation
from recordmill.compat.tensorflow.core.tensor import as_tensor
from recordmill.compat.tensorflow.core.variable import Variable
from recordmill.compat.tensorflow.data.branches import Branch, choices
from recordmill.compat.tensorflow.data.inferring import inferred
from recordmill.compat.tensorflow.data.known_shapes import are_fixed, told
from recordmill.compat.tensorflow.data.recorded import (
    Path,
    Recorded,
    Untraceable,
    frozen,
    instances,
    picked,
    putter,
    recorded_in,
)
from recordmill.compat.tensorflow.data.specs import spec_of
from recordmill.compat.tensorflow.data.structures import TENSORS, filled, leaves, mapped, same_form
from recordmill.compat.tensorflow.ops.specs import TensorSpec
from recordmill.dataclass import dataclass

# Operations that run functions of the user, or leave something behind: in order, and when they are asked for.
IN_ORDER = ("control.", "io.write_file")
# Operations that are given functions, in which recorded values may be out of sight.
_CLOSURES = tuple(
    f"control.{name}" for name in ("case", "cond", "map_fn", "switch_case", "vectorized_map", "while_loop")
)


class Call:
    """One call of an operation.

    Parameters
    ----------
    name : str
    args : tuple
    kwargs : dict
        Values of the program in them are Recorded.
    outputs : tuple
        Pairs of a value's number and its key in the result; None for a result that is one value.

    Attributes
    ----------
    inputs, makes : frozenset of int
        Numbers of the values that it takes, and that it gives.
    """

    __slots__ = ("_named", "_placed", "args", "inputs", "kwargs", "makes", "name", "outputs")

    def __init__(
        self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], outputs: tuple[tuple[int, Any], ...]
    ) -> None:
        self.name, self.args, self.kwargs, self.outputs = name, args, kwargs, outputs
        self.inputs = frozenset(one.number for one in recorded_in((args, kwargs)))
        self.makes = frozenset(number for number, _ in outputs)
        self._placed = [putter(one) for one in args]
        self._named = {key: putter(one) for key, one in kwargs.items()}

    def given(self, known: Mapping[int, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Arguments with values in the places of recorded ones.

        Parameters
        ----------
        known : mapping of int to value

        Returns
        -------
        tuple
            Positional and named ones.
        """
        return tuple([one(known) for one in self._placed]), {key: one(known) for key, one in self._named.items()}


@dataclass(frozen=True, eq=False, slots=True)
class Program:
    """What a function does.

    Parameters
    ----------
    num_inputs : int
        Leaves of an element.
    calls : tuple of Call
    result : structure
        Of Recorded values and constants.
    """

    num_inputs: int
    calls: tuple[Call, ...]
    result: Any

    def known(self) -> Any:
        """Specs of the result, None where they are not known.

        Returns
        -------
        structure of TensorSpec or None
        """
        return mapped(lambda leaf: leaf.spec if isinstance(leaf, Recorded) else spec_of(leaf), self.result)

    def spec(self) -> Any:
        """Specs of the result; None unless all are known.

        Returns
        -------
        structure of TensorSpec or None
        """
        found = self.known()
        return None if any(leaf is None for leaf in leaves(found)) else found


class Replay:
    """A program done to one element after the other.

    Parameters
    ----------
    program : Program
    """

    def __init__(self, program: Program) -> None:
        self._result = program.result
        self._steps = [(operation(call.name), call) for call in program.calls]

    def __call__(self, value: Any) -> Any:
        """Do it to the value of an element."""
        known: dict[int, Any] = dict(enumerate(leaves(value)))
        for operate, call in self._steps:
            args, kwargs = call.given(known)
            made = operate(*args, **kwargs)
            for number, key in call.outputs:
                known[number] = picked(made, key)
        return mapped(lambda leaf: known[leaf.number] if isinstance(leaf, Recorded) else leaf, self._result)


class _Notes:
    """The recording of one function."""

    def __init__(self, fixed: bool) -> None:
        self.calls: list[Call] = []
        self.count, self.fixed = 0, fixed

    def new(self, spec: TensorSpec | None) -> Recorded:
        made = Recorded(self.count, spec)
        self.count += 1
        return made

    def touches(self, value: Any) -> bool:
        if next(instances(value, Variable), None) is not None:
            raise Untraceable("it uses a tf.Variable, whose value may change")
        found = next(recorded_in(value), None)
        if found is not None and found.of_graph:
            raise Untraceable("it uses a value of a graph")
        return found is not None

    def note(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if name.startswith("variable."):
            raise Untraceable("it uses a tf.Variable, whose value may change")
        if (chosen := choices(name, args, kwargs)) is not None:
            return self._branched(*chosen)
        if name in _CLOSURES:
            raise Untraceable(f"{name} calls functions, which may hold values")
        spec = inferred(name, args, kwargs)
        if isinstance(spec, dict):
            result: Any = {key: self.new(one) for key, one in spec.items()}
            outputs = tuple((one.number, key) for key, one in result.items())
        elif isinstance(spec, list):
            result = [self.new(one) for one in spec]
            outputs = tuple((one.number, key) for key, one in enumerate(result))
        elif isinstance(spec, tuple):
            result = tuple({key: self.new(one) for key, one in part.items()} for part in spec)
            outputs = tuple(
                (one.number, Path((place, key))) for place, part in enumerate(result) for key, one in part.items()
            )
        else:
            result = self.new(spec)
            outputs = ((result.number, None),)
        args, kwargs = told(name, args, kwargs, fixed=self.fixed)
        kept = frozen(args), frozen(kwargs)
        self.calls.append(Call(name, *kept, outputs))
        return result

    def _branched(self, value: Any, keys: tuple[int, ...], functions: list[Callable[[], Any]]) -> Any:
        """Note each of the functions by itself, and that one of them is called."""
        before, found = self.calls, []
        for function in functions:
            self.calls = []
            try:
                result = mapped(lambda leaf: leaf if isinstance(leaf, Recorded) else as_tensor(leaf), function())
                found.append((result, Branch(self.calls, result)))
            finally:
                self.calls = before
        results, branches = [result for result, _ in found], [branch for _, branch in found]
        if not all(same_form(results[0], result) for result in results):
            raise Untraceable("functions of which it calls one return structures that are not alike")
        if any(call.name.startswith(IN_ORDER) for branch in branches for call in branch.calls):
            raise Untraceable("functions of which it calls one do something in order")
        outer = sorted({number for branch in branches for number in branch.outer})
        values = [Recorded(number, None) for number in outer]
        made = [self.new(_common_spec(rows)) for rows in zip(*(branch.leaves for branch in branches), strict=True)]
        outputs = tuple((one.number, place) for place, one in enumerate(made))
        self.calls.append(Call("branch.taken", (value, keys, branches, outer, values), {}, outputs))
        return filled(results[0], iter(made))


def _common_spec(rows: tuple[Any, ...]) -> TensorSpec | None:
    """Spec of one value of several branches, where they agree."""
    specs = [leaf.spec if isinstance(leaf, Recorded) else spec_of(leaf) for leaf in rows]
    return specs[0] if all(spec == specs[0] for spec in specs) else None


def record(function: Callable[[Any], Any], spec: Any) -> Program:
    """Call a function once and note what it does.

    Parameters
    ----------
    function : callable
        Takes an element.
    spec : structure of TensorSpec
        Of the elements.

    Returns
    -------
    Program

    Raises
    ------
    Untraceable
        It cannot be noted.
    """
    notes = _Notes(are_fixed(spec))
    if not all(isinstance(leaf, TensorSpec) for leaf in leaves(spec)):
        raise Untraceable("its elements hold data sets")
    numbered = list(map(notes.new, leaves(spec)))
    token = RECORDING.set(notes)
    try:
        result = function(filled(spec, iter(numbered)))
    except Untraceable:
        raise
    except Exception as error:
        raise Untraceable(f"without values it raises {type(error).__name__}: {error}") from error
    finally:
        RECORDING.reset(token)
    for leaf in leaves(result):
        if not isinstance(leaf, (Recorded, *TENSORS)):
            raise Untraceable(f"it returns a {type(leaf).__name__}")
    return Program(len(numbered), tuple(notes.calls), result)
