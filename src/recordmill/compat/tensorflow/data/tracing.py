"""A map function called with values that note what is done to them: once, or once for each way that it may go."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

from recordmill.compat.tensorflow.core.dispatch import RECORDING
from recordmill.compat.tensorflow.core.tensor import as_tensor
from recordmill.compat.tensorflow.core.variable import Variable
from recordmill.compat.tensorflow.data.branches import Branch, choices
from recordmill.compat.tensorflow.data.inferring import inferred
from recordmill.compat.tensorflow.data.known_shapes import are_fixed, told
from recordmill.compat.tensorflow.data.recorded import Path, Recorded, Untraceable, frozen, instances, recorded_in
from recordmill.compat.tensorflow.data.recording import IN_ORDER, Call, Program
from recordmill.compat.tensorflow.data.sharing import key_of
from recordmill.compat.tensorflow.data.specs import spec_of
from recordmill.compat.tensorflow.data.structures import TENSORS, filled, leaves, mapped, same_form
from recordmill.compat.tensorflow.ops.specs import TensorSpec

# Truths that one way of a function decides about, and ways of a function, at most.
_MOST_DECISIONS, _MOST_WAYS = 6, 16
# Operations that are given functions, in which recorded values may be out of sight.
_CLOSURES = tuple(
    f"control.{name}"
    for name in ("case", "cond", "foldl", "foldr", "map_fn", "scan", "switch_case", "vectorized_map", "while_loop")
)


class _Notes:
    """The recording of one function."""

    def __init__(self, fixed: bool, decided: tuple[bool, ...]) -> None:
        self.calls: list[Call] = []
        self._noted: dict[Hashable, Recorded] = {}
        self.count, self.fixed = 0, fixed
        self._decided, self._is_inside = decided, False
        self.decisions: list[tuple[int, Recorded]] = []
        self.result: Any = None

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

    def decide(self, value: Recorded) -> bool:
        """Truth of a value that has none yet: as it was decided, or true; the other way is noted by itself."""
        place = len(self.decisions)
        if place == _MOST_DECISIONS or self._is_inside:
            raise Untraceable("what it does depends on values (if, while, and, or) too often")
        self.decisions.append((len(self.calls), value))
        return self._decided[place] if place < len(self._decided) else True

    def note(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if name.startswith("variable."):
            raise Untraceable("it uses a tf.Variable, whose value may change")
        if name.startswith("lookup.changing"):
            raise Untraceable("it uses a table that may change")
        if (chosen := choices(name, args, kwargs)) is not None:
            return self._branched(*chosen)
        if name in _CLOSURES:
            raise Untraceable(f"{name} calls functions, which may hold values")
        spec, shared = inferred(name, args, kwargs), key_of(name, args, kwargs)
        if shared in self._noted and self._noted[shared].spec == spec:
            return self._noted[shared]
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
        if shared is not None and isinstance(result, Recorded):
            self._noted[shared] = result
        return result

    def _branched(self, value: Any, keys: tuple[int, ...] | None, functions: list[Callable[[], Any]]) -> Any:
        """Note each of the functions by itself, and that one of them is called."""
        before, noted, was_inside, found = self.calls, self._noted, self._is_inside, []
        for function in functions:
            self.calls, self._noted, self._is_inside = [], dict(noted), True
            try:
                result = mapped(lambda leaf: leaf if isinstance(leaf, Recorded) else as_tensor(leaf), function())
                found.append((self.calls, result))
            finally:
                self.calls, self._noted, self._is_inside = before, noted, was_inside
        return self.choose(value, keys, found)

    def choose(self, value: Any, keys: tuple[int, ...] | None, ways: list[tuple[list[Call], Any]]) -> Any:
        """Note that the calls of one way are done, and give what stands for its result."""
        first = ways[0][1]
        if not all(same_form(first, result) for _, result in ways):
            raise Untraceable("depending on a value it gives structures that are not alike")
        if any(call.name.startswith(IN_ORDER) for calls, _ in ways for call in calls):
            raise Untraceable("depending on a value it does something in order")
        branches = [Branch(calls, result) for calls, result in ways]
        outer = sorted({number for branch in branches for number in branch.outer})
        values = [Recorded(number, None) for number in outer]
        made = [self.new(_common_spec(rows)) for rows in zip(*(branch.leaves for branch in branches), strict=True)]
        outputs = tuple((one.number, place) for place, one in enumerate(made))
        self.calls.append(Call("branch.taken", (value, keys, branches, outer, values), {}, outputs))
        return filled(first, iter(made))


def _common_spec(rows: tuple[Any, ...]) -> TensorSpec | None:
    """Spec of one value of several branches, where they agree."""
    specs = [leaf.spec if isinstance(leaf, Recorded) else spec_of(leaf) for leaf in rows]
    return specs[0] if all(spec == specs[0] for spec in specs) else None


def record(function: Callable[[Any], Any], spec: Any) -> Program:
    """Call a function once and note what it does."""
    if not all(isinstance(leaf, TensorSpec) for leaf in leaves(spec)):
        raise Untraceable("its elements hold data sets")
    notes = _Ways(function, spec).noted(())
    return Program(len(list(leaves(spec))), tuple(notes.calls), notes.result)


class _Ways:
    """A function noted once for each way that it may go, where that depends on values."""

    def __init__(self, function: Callable[[Any], Any], spec: Any) -> None:
        self._function, self._spec, self._left = function, spec, _MOST_WAYS

    def noted(self, decided: tuple[bool, ...]) -> _Notes:
        """What it does, once so much is decided; what is not becomes a branch."""
        notes = self._called(decided)
        if len(notes.decisions) == len(decided):
            self._left -= 1
            if self._left < 0:
                raise Untraceable("what it does depends on values (if, while, and, or) in too many ways")
            return notes
        at, value = notes.decisions[len(decided)]
        ways = [self.noted((*decided, truth)) for truth in (False, True)]
        begun = [call.name for call in notes.calls[:at]]
        if any([call.name for call in way.calls[:at]] != begun for way in ways):
            raise Untraceable("it does not do the same when it is called again")
        notes.calls = notes.calls[:at]
        notes.result = notes.choose(value, None, [(way.calls[at:], way.result) for way in ways])
        return notes

    def _called(self, decided: tuple[bool, ...]) -> _Notes:
        notes = _Notes(are_fixed(self._spec), decided)
        numbered = list(map(notes.new, leaves(self._spec)))
        token = RECORDING.set(notes)
        try:
            notes.result = self._function(filled(self._spec, iter(numbered)))
        except Untraceable:
            raise
        except Exception as error:
            raise Untraceable(f"without values it raises {type(error).__name__}: {error}") from error
        finally:
            RECORDING.reset(token)
        for leaf in leaves(notes.result):
            if not isinstance(leaf, (Recorded, *TENSORS)):
                raise Untraceable(f"it returns a {type(leaf).__name__}")
        return notes
