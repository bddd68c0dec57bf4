"""What a function does to its values: calls of operations, one behind the other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from recordmill.compat.tensorflow.core.dispatch import run
from recordmill.compat.tensorflow.data.recorded import (
    Recorded,
    picked,
    putter,
    recorded_in,
)
from recordmill.compat.tensorflow.data.specs import spec_of
from recordmill.compat.tensorflow.data.structures import leaves, mapped
from recordmill.dataclass import dataclass

# Operations that run functions of the user, or leave something behind: in order, and when they are asked for.
IN_ORDER = ("control.", "io.write_file")


class Call:
    """One call of an operation."""

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
        """Arguments with values in the places of recorded ones."""
        return tuple([one(known) for one in self._placed]), {key: one(known) for key, one in self._named.items()}

    def make(self, known: dict[int, Any]) -> None:
        """Run the operation."""
        args, kwargs = self.given(known)
        made = run(self.name, *args, **kwargs)
        for number, key in self.outputs:
            known[number] = picked(made, key)


@dataclass(frozen=True, eq=False, slots=True)
class Program:
    """What a function does."""

    num_inputs: int
    calls: tuple[Call, ...]
    result: Any

    def known(self) -> Any:
        """Specs of the result, None where they are not known."""
        return mapped(lambda leaf: leaf.spec if isinstance(leaf, Recorded) else spec_of(leaf), self.result)

    def spec(self) -> Any:
        """Specs of the result; None unless all are known."""
        found = self.known()
        return None if any(leaf is None for leaf in leaves(found)) else found


class Replay:
    """A program done to one element after the other."""

    def __init__(self, program: Program) -> None:
        self._program = program

    def __call__(self, value: Any) -> Any:
        """Do it to the value of an element."""
        known: dict[int, Any] = dict(enumerate(leaves(value)))
        for call in self._program.calls:
            call.make(known)
        return mapped(lambda leaf: known[leaf.number] if isinstance(leaf, Recorded) else leaf, self._program.result)
