"""Makes the elements of an epoch, several at a time, in whichever thread or process asks."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import pairwise
from threading import get_ident
from typing import Any

import numpy as np

from recordmill.allocator import Memory
from recordmill.pipeline.batch_positions import Cuts
from recordmill.pipeline.context import Calling, Context
from recordmill.pipeline.failures import IN_A_ROW, OnError, Skipped
from recordmill.pipeline.positions import Places, joined
from recordmill.pipeline.program import Program
from recordmill.pipeline.rows import Columns, Rows, samples_of
from recordmill.pipeline.stages.batch import Batch
from recordmill.pipeline.stages.filter import Filter
from recordmill.pipeline.stages.map import Map
from recordmill.pipeline.stats import Spent
from recordmill.pipeline.turns import Turns


@dataclass(slots=True)
class Made:
    """Elements, and what making them cost.

    Parameters
    ----------
    elements : list of (int, object)
        Numbers in the epoch of this rank, rising, and the elements.
    error : Exception, optional
        What the element behind the last one failed with.
    num_samples : int
        Samples that were asked for.
    skipped : list of Skipped
    spent : Spent
    num_bytes : int
        Read.
    most_bytes : int
        That their samples took behind any stage.
    """

    elements: list[tuple[int, Any]]
    error: BaseException | None = None
    num_samples: int = 0
    skipped: list[Skipped] = field(default_factory=list)
    spent: Spent = field(default_factory=Spent)
    num_bytes: int = 0
    most_bytes: int = 0


@dataclass(frozen=True)
class Maker:
    """How the elements of one epoch are made for one rank.

    Parameters
    ----------
    program : Program
    batch : Batch, optional
        Without one, elements are samples.
    maps : tuple of Map
        On batches.
    cuts : Cuts
    epoch : int
    on_error : {"raise", "skip", "substitute"}
    threads : int
        Inside one native call.
    returned : dict
        What functions returned first in this run.
    shares_memory : bool
        Whether the workers are threads of this process.
    memory : Memory, optional
        Where large arrays come from.
    handed_over : tuple of Map
        Functions of which what they return has to be what can be pickled.
    turns : Turns
        In which threads call functions.
    """

    program: Program
    batch: Batch | None
    maps: tuple[Map, ...]
    cuts: Cuts
    epoch: int = 0
    on_error: OnError = "raise"
    threads: int = 1
    returned: dict[Any, Any] = field(default_factory=dict, compare=False)
    shares_memory: bool = True
    memory: Memory | None = field(default=None, compare=False)
    handed_over: tuple[Map, ...] = ()
    turns: Turns = field(default_factory=Turns, compare=False)
    _contexts: dict[int, Context] = field(default_factory=dict, compare=False)

    @property
    def functions(self) -> list[Map]:
        """Stages that call functions of users."""
        return [*self.program.functions, *self.maps]

    @property
    def limits(self) -> list[float]:
        """Seconds that calls of functions may take, of those that have a limit."""
        filters = [stage for stage in self.program.stages if isinstance(stage, Filter)]
        found = [*(stage.timeout for stage in self.functions), *(stage.timeout for stage in filters)]
        return [limit for limit in found if limit is not None]

    def carefully(self, number: int) -> Made:
        """Make an element that could not be handed over once more; an error names the function that is at fault."""
        return self.careful().make(range(number, number + 1))

    def careful(self) -> Maker:
        """The same, but what its last functions return has to be what can be pickled."""
        own = [stage for stage in (*self.program.stages, *self.maps) if isinstance(stage, Map)]
        # What comes last is handed over; of a mixture, what its parts return.
        return replace(self, handed_over=tuple(own[-1:] or self.program.functions))

    def calling(self) -> list[Calling]:
        """Calls of functions that have not returned, in the threads of this process."""
        return [calling for context in list(self._contexts.values()) if (calling := context.calling) is not None]

    def __getstate__(self) -> dict[str, Any]:
        """State without what belongs to threads of this process."""
        return self.__dict__ | {"_contexts": {}, "returned": {}, "memory": None}

    def make(self, numbers: range) -> Made:
        """Elements in order; an error is where its element would be."""
        if len(numbers) > 1 and not len(self.cuts.positions(numbers[-1])):
            # A share without samples has the form of another rank's, not of those that would be made with it.
            return self._one_by_one(numbers)
        try:
            return self._made(numbers)
        except Exception as error:  # noqa: BLE001 (it reaches the caller in the place of the element)
            return Made([], error) if len(numbers) == 1 else self._one_by_one(numbers)

    def _one_by_one(self, numbers: range) -> Made:
        whole = Made([])
        for number in numbers:
            one = self.make(range(number, number + 1))
            whole.elements += one.elements
            whole.skipped += one.skipped
            whole.num_samples += one.num_samples
            whole.num_bytes += one.num_bytes
            whole.most_bytes += one.most_bytes
            whole.spent.add(one.spent)
            if one.error is not None:
                whole.error = one.error
                break
        return whole

    def context(self) -> Context:
        """Return what stages are handed in this thread."""
        context = Context(
            self.on_error != "raise", self.threads, self.memory, self.returned, self.handed_over, turns=self.turns
        )
        self._contexts[get_ident()] = context
        return context

    def _made(self, numbers: range) -> Made:
        parts = [Places(self.epoch, self.cuts.positions(number)) for number in numbers]
        context = self.context()
        places = _together(parts)
        if not len(places):
            return self.finished(self._like(numbers[0], context), parts, numbers, context)
        fill = self.on_error == "substitute"
        rows = self.program.evaluate_full(places, context) if fill else self.program.evaluate(places, context)
        return self.finished(rows, parts, numbers, context)

    def _like(self, number: int, context: Context) -> Rows:
        """No samples; the columns hold one that other ranks have in an element, or a sound one, for its form."""
        places = Places(self.epoch, np.array([self.cuts.behind(number)], np.int64))
        evaluate = self.program.evaluate_full if context.collects else self.program.evaluate
        rows = evaluate(places, context)
        context.skipped.clear()  # the rank that has the sample tells of it
        return replace(rows, ordinals=np.empty(0, np.int64))

    def finished(self, rows: Rows, parts: list[Places], numbers: range, context: Context) -> Made:
        """Elements of samples."""
        if self.batch is None:
            found = (numbers[0] + numbers.step * rows.ordinals).tolist()
            samples = samples_of(rows.columns, len(rows), lock=False)
            elements: list[tuple[int, Any]] = list(zip(found, samples, strict=True))
        else:
            elements = list(zip(numbers, self._batches(self.batch, rows, parts, context), strict=True))
        asked = sum(len(part) for part in parts)
        most_bytes = max(context.most_bytes, context.num_bytes)
        return Made(elements, None, asked, context.skipped, context.spent, context.num_bytes, most_bytes)

    def _batches(self, stage: Batch, rows: Rows, parts: list[Places], context: Context) -> list[Columns | None]:
        """Batches; None for one of which all samples failed."""
        edges = np.cumsum([0, *(len(part) for part in parts)])
        inside = np.searchsorted(rows.ordinals, edges)
        with context.spent.timed("batch"):  # once for all of them: small ones take hardly longer than the clocks
            batches: list[Columns | None] = []
            for part, edge, start, stop in zip(parts, edges, inside, inside[1:], strict=False):
                if start == stop and len(part):
                    self._check_left_out(context, len(part))
                    batches.append(None)
                    continue
                columns = rows.slice(int(start), int(stop))
                batches.append(stage.collate(columns, stage.size, rows.ordinals[start:stop] - edge))
        return [
            None if batch is None else self._mapped(batch, rows, parts[number], int(inside[number]), context)
            for number, batch in enumerate(batches)
        ]

    def _check_left_out(self, context: Context, count: int) -> None:
        """Refuse to leave out a batch that is large, or that other ranks may have."""
        alone = self.cuts.world_size == 1
        if self.on_error == "skip" and alone and count < IN_A_ROW:
            return
        error = context.skipped[-1].error
        error.add_note(f"all {count} samples of a batch failed" + ("" if alone else ", and every rank has to have one"))
        raise error

    def _mapped(self, batch: Columns, rows: Rows, part: Places, start: int, context: Context) -> Columns:
        for place, step in enumerate(self.maps):
            work = self._work(rows, part, start, place, context)
            with context.spent.timed(step.name):
                batch = step.apply_batch(work, batch)
        return batch

    def _work(self, rows: Rows, part: Places, start: int, place: int, context: Context) -> Any:
        """What a function on batches is handed: the batch stands for its first sample."""
        first = Places(part.epochs, part.array[:1] if len(part) else np.zeros(1, np.int64))
        one = Rows({}, np.zeros(1, np.int64), rows.origins[start : start + 1])
        return self.program.work(one, first, len(self.program.stages) + place, context, first)


def _together(parts: list[Places]) -> Places:
    """Places of several elements; a range where they follow one another."""
    ranges = [part.positions for part in parts]
    follow = all(
        isinstance(one, range) and isinstance(two, range) and one.stop == two.start for one, two in pairwise(ranges)
    )
    if follow and isinstance(ranges[0], range) and isinstance(ranges[-1], range):
        return Places(parts[0].epochs, range(ranges[0].start, ranges[-1].stop))
    return joined(parts)
