"""Batches whose map functions run natively, for whole batches at a time, in threads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any

from recordmill.compat.processors import num_processors
from recordmill.compat.tensorflow.data.ahead import close, mapped_ahead
from recordmill.compat.tensorflow.data.chunks import is_small_file
from recordmill.compat.tensorflow.data.elements import Element, Failed, Node, Step, Way
from recordmill.compat.tensorflow.data.functions import placed
from recordmill.compat.tensorflow.data.mapping import Deferred, Map
from recordmill.compat.tensorflow.data.recording import IN_ORDER, Program
from recordmill.compat.tensorflow.data.sources import FromGenerator
from recordmill.compat.tensorflow.data.stacking import stacked
from recordmill.compat.tensorflow.data.whole import WholeProgram, first_columns

if TYPE_CHECKING:
    from recordmill.compat.tensorflow.data.batching import Batch


class Fused:
    """A batch step and the maps before it."""

    def __init__(self, batch: Batch, maps: list[Map], programs: list[WholeProgram]) -> None:
        self.batch, self.maps, self.programs = batch, maps, programs

    def iterate(self, way: Way) -> Iterator[Step]:
        """Batches in order, made ahead by threads."""
        groups = self.batch.groups(replace(way, put_off=tuple(self.maps)))
        first = next(groups, None)
        if first is None:
            return
        made = mapped_ahead(self._finish, chain((first,), groups), self._threads(first), 1)
        try:
            yield from made
        finally:
            close(made)
            close(groups)

    def _threads(self, group: list[Step]) -> int:
        """One for each processor; small samples that are done one by one keep Python busy, which has one thread."""
        singly = any(one.single() for one in self.programs)
        waiting = [step for step in group if isinstance(step, Deferred)]
        return 1 if singly and waiting and is_small_file(_given(waiting[0]).value) else num_processors()

    def _finish(self, group: list[Step]) -> Step:
        waiting = [step for step in group if isinstance(step, Deferred)]
        if len(waiting) == len(group):
            try:
                return Element(self._whole(waiting))
            except Exception:  # noqa: BLE001, S110 (sample by sample it tells which one it is, and what)
                pass
        return self.one_by_one(group)

    def _whole(self, group: list[Deferred]) -> Any:
        layers = [group]
        while isinstance(layers[-1][0].given, Deferred):
            layers.append([element.given for element in layers[-1]])  # type: ignore[misc]
        columns = first_columns([element.given for element in layers[-1]])
        for program, layer in zip(self.programs, reversed(layers), strict=True):
            columns = program.run(columns, [element.position for element in layer])
        return self.programs[-1].form(columns)

    def one_by_one(self, group: list[Step]) -> Step:
        """Batch made sample by sample, or the error of the first that fails."""
        done: list[Any] = []
        for given in group:
            step = self._single(given) if isinstance(given, Deferred) else given
            if isinstance(step, Failed):
                return step
            done.append(step.value)
        try:
            return Element(stacked(done))
        except Exception as error:  # noqa: BLE001 (it is told to the caller)
            return Failed(placed(error, Element(None)))

    def _single(self, element: Deferred) -> Step:
        chain = [element]
        while isinstance(chain[-1].given, Deferred):
            chain.append(chain[-1].given)
        step: Step = chain[-1].given
        for node, deferred in zip(self.maps, reversed(chain), strict=True):
            if isinstance(step, Element):
                step = node.finish(Deferred(step, deferred.position))
        return step


def _given(element: Deferred) -> Element:
    """Element that the first map takes."""
    given: Element = element
    while isinstance(given, Deferred):
        given = given.given
    return given


def fused(batch: Batch) -> Fused | str:
    """Plan of a batch step."""
    maps: list[Map] = []
    node: Node = batch.input
    reason = "there is no map before it"
    while True:
        if isinstance(node, Map):
            program = node.function.program()
            why = program if isinstance(program, str) else _refusal(program)
            if why is not None:
                reason = f"{node.function.name}: {why}"
                break
            maps.insert(0, node)
        elif not node.hands_on:
            reason = f"{type(node).__name__.lower()} stands between map and batch" if node.inputs else reason
            break
        node = node.input
    if not maps:
        return reason
    if _has_generator(node):
        return "elements come from a generator of Python, which is not asked for more than is wanted"
    programs = [WholeProgram(one.function.program()) for one in maps]  # type: ignore[arg-type]
    if not any(one.parses or one.makes_pictures for one in programs):
        return "no records are parsed and no images are made by it"
    return Fused(batch, maps, programs)


def _refusal(program: Program) -> str | None:
    for call in program.calls:
        if call.name.startswith(IN_ORDER):
            return f"{call.name} runs in order"
    return None


def _has_generator(node: Node) -> bool:
    return isinstance(node, FromGenerator) or any(map(_has_generator, node.inputs))
