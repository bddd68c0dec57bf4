"""A pipeline's stages on samples, checked and carried out for any places of any epoch."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from recordmill.decode.random import Draws
from recordmill.pipeline.context import Context
from recordmill.pipeline.positions import Places
from recordmill.pipeline.rows import Rows, joined_rows
from recordmill.pipeline.sources import ExampleSource, Origin, entry_points
from recordmill.pipeline.stages.base import OrderStage, SampleStage, Work
from recordmill.pipeline.stages.filter import Filter
from recordmill.pipeline.stages.map import Map
from recordmill.pipeline.stages.shuffle import Shuffle
from recordmill.pipeline.stages.take import MOST, Skip, Take

# Draws which sample stands in for one that failed.
_SUBSTITUTE = 0xFFFF
_ATTEMPTS = 32


def _elsewhere(*_: Any) -> None:
    """Stand for a function that is called in another process."""


@dataclass(frozen=True)
class Program:
    """An origin, and order and sample stages.

    Parameters
    ----------
    origin : Origin
    stages : tuple of OrderStage or SampleStage
    """

    origin: Origin
    stages: tuple[Any, ...] = ()

    def __post_init__(self) -> None:
        """Refuse an order of stages that has no meaning."""
        filtered = False
        for stage in self.stages:
            if filtered and isinstance(stage, OrderStage) and not isinstance(stage, Take | Skip):
                raise ValueError(f"{stage!r} needs the number of samples, which a filter leaves open: put it before")
            if filtered and isinstance(stage, Filter) and self._cuts_after_filter:
                raise ValueError("take and skip stand behind the last filter")
            filtered = filtered or isinstance(stage, Filter)
        self.lengths  # noqa: B018 (stages check what they are given)

    @cached_property
    def _kinds(self) -> list[tuple[bool, bool]]:
        """Whether each stage chooses samples, and whether it changes them: asking a protocol takes long."""
        return [(isinstance(stage, OrderStage), isinstance(stage, SampleStage)) for stage in self.stages]

    @property
    def _last_filter(self) -> int:
        return max((number for number, stage in enumerate(self.stages) if isinstance(stage, Filter)), default=-1)

    @property
    def _cuts_after_filter(self) -> bool:
        first = next((number for number, stage in enumerate(self.stages) if isinstance(stage, Filter)), 0)
        return any(isinstance(stage, Take | Skip) for stage in self.stages[first : self._last_filter])

    @cached_property
    def lengths(self) -> list[int | None]:
        """Samples before each stage up to the last filter, and behind it."""
        found: list[int | None] = [self.origin.length()]
        for stage in self.stages[: self._last_filter + 1] if self.is_stream else self.stages:
            found.append(stage.length(found[-1]) if isinstance(stage, OrderStage) else found[-1])
            if (found[-1] or 0) > MOST:
                raise ValueError(f"{stage!r} makes more than 2**62 samples: repeat() without a number has no end")
        return found

    @property
    def is_stream(self) -> bool:
        """Whether a filter leaves open how many samples there are."""
        return self._last_filter >= 0

    @property
    def is_shuffled(self) -> bool:
        """Whether epochs differ in their order."""
        parts = getattr(self.origin, "programs", ())
        return any(isinstance(stage, Shuffle) for stage in self.stages) or any(part.is_shuffled for part in parts)

    @property
    def functions(self) -> list[Map]:
        """Stages that call functions of users, those of what is mixed first."""
        return [*self.origin.functions, *(stage for stage in self.stages if isinstance(stage, Map))]

    @property
    def sources(self) -> list[ExampleSource]:
        """What samples are read from."""
        return self.origin.sources

    @property
    def length(self) -> int | None:
        """Samples of an epoch, of a stream before its last filter; None is endless."""
        return self.lengths[-1]

    def __len__(self) -> int:
        """Return the number of samples of an epoch."""
        if self.is_stream:
            raise TypeError("a filter leaves open how many samples there are")
        if self.length is None:
            raise TypeError("an endless pipeline has no length")
        return self.length

    @property
    def head(self) -> Program:
        """What decides how many samples there are: everything up to the last filter."""
        return Program(self.origin, self.stages[: self._last_filter + 1])

    @property
    def tail_functions(self) -> list[Map]:
        """Stages behind the last filter that call functions of users."""
        return [stage for stage in self.stages[self._last_filter + 1 :] if isinstance(stage, Map)]

    @property
    def without_head(self) -> Program:
        """The same for `evaluate_tail` alone: functions up to the last filter do not go where they are not called."""
        there = self._last_filter + 1
        head = (
            replace(stage, function=_elsewhere) if isinstance(stage, Map | Filter) else stage
            for stage in self.stages[:there]
        )
        return Program(self.origin, (*head, *self.stages[there:]))

    @property
    def cut(self) -> tuple[int, int | None]:
        """First sample behind the last filter that is wanted, and the first that is not."""
        start, stop = 0, None
        for stage in self.stages[self._last_filter + 1 :]:
            if isinstance(stage, Skip):
                start += stage.count
            elif isinstance(stage, Take):
                stop = start + stage.count if stop is None else min(stop, start + stage.count)
        return start, stop

    def fingerprint(self) -> str:
        """Short text that differs between programs that give other samples in another order."""
        return self._fingerprint

    @cached_property
    def _fingerprint(self) -> str:  # states of loaders ask for it with each batch, and many shards take a while
        deciding = [stage for stage in self.stages if isinstance(stage, OrderStage | Filter)]
        told = [repr(replace(one, timeout=None) if isinstance(one, Filter) else one) for one in deciding]
        return ".".join([self.origin.fingerprint(), *told])

    def evaluate(self, places: Places, context: Context, asked: Places | None = None) -> Rows:
        """Samples at places of an epoch."""
        asked = places if asked is None else asked
        behind = [places]
        for number in range(len(self.stages) - 1, -1, -1):
            stage = self.stages[number]
            if self._kinds[number][0]:
                places = stage.at(places, self.lengths[number])
            behind.append(places)
        rows = self.origin.rows(places, context, asked)
        return self._worked(rows, behind[::-1], 0, context, asked)

    def evaluate_tail(self, rows: Rows, places: Places, context: Context) -> Rows:
        """Samples behind the last filter, of samples that passed it."""
        return self._worked(rows, [places] * (len(self.stages) + 1), self._last_filter + 1, context, places)

    def _worked(self, rows: Rows, behind: list[Places], first: int, context: Context, asked: Places) -> Rows:
        for number in range(first, len(self.stages)):
            stage = self.stages[number]
            if not self._kinds[number][1] or not len(rows):
                continue
            places = behind[number + 1].take(rows.ordinals)
            told = asked.take(rows.ordinals)
            context.enter(stage, told, *map(int, rows.origins[0]))
            with context.spent.timed(stage.name):
                rows = stage.apply(self.work(rows, places, number, context, told))
            context.weigh(rows.columns)
            context.leave()
        return rows

    def work(self, rows: Rows, places: Places, number: int, context: Context, asked: Places) -> Work:
        """Samples for the stage of a number."""
        before = (*self.stages, *[None] * (number - len(self.stages)))[:number]

        def where(row: int) -> dict[str, Any]:
            if row >= len(rows.origins):
                return {}
            source, record = rows.origins[row]
            shard, inside, offset = self.sources[int(source)].where(int(record))
            return {"shard": shard, "record": inside, "offset": offset}

        def tables(feature: str) -> Any:
            return entry_points(self.sources, rows.origins, feature)

        seed = (self.seed(number) + context.part) & (1 << 64) - 1
        return Work(rows, places, asked, where, tables, seed, before, context)

    def seed(self, number: int) -> int:
        """Seed of a stage: its own, else that of the last shuffle before it, else 0."""
        own = getattr(self.stages[number], "seed", None) if number < len(self.stages) else None
        if own is not None:
            return int(own)
        seeds = [stage.seed for stage in self.stages[:number] if isinstance(stage, Shuffle)]
        return seeds[-1] if seeds else 0

    def evaluate_full(self, places: Places, context: Context) -> Rows:
        """Samples at places, with others in the place of those that failed."""
        rows = self.evaluate(places, context)
        num_skipped = len(context.skipped)
        for attempt in range(_ATTEMPTS):
            missing = np.setdiff1d(np.arange(len(places)), rows.ordinals)
            if not len(missing):
                return rows
            found = self.evaluate(self._others(places.take(missing), attempt), context)
            del context.skipped[num_skipped:]  # it is what was asked for that is told of
            stand_in = Rows(found.columns, missing[found.ordinals], found.origins)
            rows = joined_rows([rows, stand_in]) if len(rows) else stand_in
        raise context.skipped[0].error

    def _others(self, places: Places, attempt: int) -> Places:
        length = min(self.length or 1 << 31, 1 << 31)
        positions = places.array
        found = np.empty(len(places), np.int64)
        for epoch, rows in places.by_epoch():
            draws = Draws(self.seed(len(self.stages)), epoch)
            found[rows] = draws.integers(positions[rows], _SUBSTITUTE, length, attempt)
        return Places(places.epochs, found)

    def __repr__(self) -> str:
        """Readable form."""
        return ".".join([repr(self.origin), *map(repr, self.stages)])
