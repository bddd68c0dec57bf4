"""Compiled pipelines, which read samples from an origin and apply the stages before `batch`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from recordmill.decode.random import Draws
from recordmill.errors import DamageError, FeatureError, LimitError, RecordmillError
from recordmill.pipeline.samples import Positions, SampleRows, concatenate_rows
from recordmill.pipeline.stages.base import Context, OrderStage, SampleStage, StageInput
from recordmill.pipeline.stages.filter import Filter
from recordmill.pipeline.stages.map import Map
from recordmill.pipeline.stages.shuffle import Shuffle
from recordmill.pipeline.stages.take import MAX_SAMPLES, Skip, Take
from recordmill.schema import Schema
from recordmill.types import Ragged, RecordRef

# Errors of a single record. `on_error` can skip these errors; all other errors of a source end the iteration.
_RECORD_ERRORS = (DamageError, FeatureError, LimitError)
# The random choice of substitutes for failed samples uses this number in place of a stage number.
_SUBSTITUTE_STAGE = 0xFFFF
# Maximum number of substitutes to try for a failed sample, because a substitute can fail, too.
_MAX_ATTEMPTS = 32


class ExampleSource(Protocol):
    """Interface of objects that return examples by position.

    Implementations may be called from several threads at once. A pickled copy returns the same examples, and a
    position always returns the same example.
    """

    @property
    def schema(self) -> Schema:
        """Kinds and shapes of the features."""
        ...

    @property
    def is_schema_inferred(self) -> bool:
        """True if the schema was inferred from the first examples. Later examples can differ from such a schema."""
        ...

    def __len__(self) -> int:
        """Return the number of examples."""
        ...

    def __getitems__(self, positions: Sequence[int]) -> list[dict[str, Any]]:
        """Read the examples at the given positions; negative positions count from the end."""
        ...

    def columns(self, positions: NDArray[np.int64] | range, schema: Schema | None = None) -> dict[str, Any]:
        """Read the features of the examples at the given positions as arrays. Positions must not be negative."""
        ...

    def entry_points(self, positions: NDArray[np.int64] | range, feature: str) -> Ragged | None:
        """Return the stored entry points, where decoding of a JPEG image can start; None if none are stored."""
        ...

    def where(self, position: int) -> RecordRef:
        """Return where the example at a position is stored: shard, record and offset."""
        ...

    def fingerprint(self) -> str:
        """Return a short string that identifies the data. It does not depend on the folder of the shards."""
        ...


class Origin(Protocol):
    """Interface of pipeline origins, which read samples by position: a source or a mixture of pipelines."""

    @property
    def sources(self) -> list[ExampleSource]:
        """Sources of the samples; the first column of `SampleRows.origins` contains indices into this list."""
        ...

    @property
    def map_stages(self) -> list[Map]:
        """The `map` stages of the mixed pipelines; an empty list if the origin is a source."""
        ...

    def length(self) -> int | None:
        """Return the number of samples in an epoch; None means endless."""
        ...

    def locate_records(self, positions: Positions) -> list[tuple[ExampleSource, NDArray[np.int64]]]:
        """Return pairs (source, positions in this source) for the samples, without reading them."""
        ...

    def read_rows(self, positions: Positions, context: Context, requested: Positions) -> SampleRows:
        """Read the samples at `positions` of this origin.

        Error messages contain `requested`, the positions of the same samples in the dataset.
        """
        ...

    def fingerprint(self) -> str:
        """Return a short text that identifies the samples and their order."""
        ...


@dataclass(frozen=True, slots=True)
class SourceOrigin:
    """The examples of one source; all epochs are the same.

    Parameters
    ----------
    source : ExampleSource
    """

    source: ExampleSource

    @property
    def sources(self) -> list[ExampleSource]:
        """List that contains only the source."""
        return [self.source]

    @property
    def map_stages(self) -> list[Map]:
        """An empty list, because a source has no `map` stages."""
        return []

    def length(self) -> int:
        """Return the number of samples of an epoch."""
        return len(self.source)

    def fingerprint(self) -> str:
        """Return the fingerprint of the source."""
        return self.source.fingerprint()

    def locate_records(self, positions: Positions) -> list[tuple[ExampleSource, NDArray[np.int64]]]:
        """Return a list with one pair: the source and the given positions."""
        return [(self.source, positions.array)]

    def read_rows(self, positions: Positions, context: Context, requested: Positions) -> SampleRows:
        """Read the examples at the given positions. If `context.collect_errors` is true, skip damaged examples."""
        context.begin_stage("read", requested, 0, int(positions.values[0]) if len(positions.values) else -1)
        rows = self._read_or_skip(positions, 0, context, requested)
        context.num_bytes += context.end_stage("read", rows.columns)
        return rows

    def _read_or_skip(self, positions: Positions, first: int, context: Context, requested: Positions) -> SampleRows:
        try:
            columns = self.source.columns(positions.values)
        except _RECORD_ERRORS as error:
            # "limit_exceeded" concerns the whole shard, so it is raised even if damaged records are skipped.
            if not context.collect_errors or error.kind == "limit_exceeded":
                raise
            return self._read_in_halves(positions, first, context, requested, error)
        count = len(positions.values)
        origins = np.zeros((count, 2), np.int64)
        origins[:, 1] = positions.array
        return SampleRows(columns, np.arange(first, first + count, dtype=np.int64), origins)

    def _read_in_halves(
        self, positions: Positions, first: int, context: Context, requested: Positions, error: RecordmillError
    ) -> SampleRows:
        """Read the intact examples. Find the damaged examples by bisection, and skip them."""
        count = len(positions)
        if count == 1:
            context.raise_or_skip(*requested.epoch_and_position(0), error)
            empty = self.source.columns(range(0))
            return SampleRows(empty, np.empty(0, np.int64), np.empty((0, 2), np.int64))
        middle = count // 2
        halves = (np.arange(middle), np.arange(middle, count))
        return concatenate_rows(
            [
                self._read_or_skip(positions.take(rows), first + int(rows[0]), context, requested.take(rows))
                for rows in halves
            ]
        )

    def __repr__(self) -> str:
        """Return the `repr` of the source."""
        return repr(self.source)


class _StageInfo(NamedTuple):
    """A stage and its properties, which are computed once because `isinstance` checks of protocols are slow."""

    stage: Any
    is_order: bool
    is_sample: bool
    upstream: int | None  # number of samples per epoch before this stage
    seed: int
    ordinal: int  # number of stages of the same type before this stage


@dataclass(frozen=True)
class CompiledPipeline:
    """The part of a dataset before the batch stage: an origin, and the stages that process its samples.

    Parameters
    ----------
    origin : Origin
    stages : tuple of OrderStage or SampleStage
    """

    origin: Origin
    stages: tuple[Any, ...] = ()

    def __post_init__(self) -> None:
        """Raise ValueError if a stage is not allowed at its position."""
        filtered = False
        for number, stage in enumerate(self.stages):
            if filtered and isinstance(stage, OrderStage):
                if not isinstance(stage, Take | Skip):
                    what = "needs the number of samples, which is unknown after filter; put it before filter"
                    raise ValueError(f"{stage!r} {what}")
                if number < self._last_filter:
                    raise ValueError(f"{stage!r} cannot be placed between two filters; put it after the last filter")
            filtered = filtered or isinstance(stage, Filter)
        self.lengths  # noqa: B018 (computing it checks the stages)

    @cached_property
    def _last_filter(self) -> int:
        return max((number for number, stage in enumerate(self.stages) if isinstance(stage, Filter)), default=-1)

    @cached_property
    def lengths(self) -> list[int | None]:
        """Number of samples per epoch before each stage and after the last stage.

        If there is a filter, the list ends with the number after the last filter, as if all samples passed.
        """
        lengths: list[int | None] = [self.origin.length()]
        for stage in self.stages[: self._last_filter + 1] if self.has_filter else self.stages:
            lengths.append(stage.length(lengths[-1]) if isinstance(stage, OrderStage) else lengths[-1])
            if (lengths[-1] or 0) > MAX_SAMPLES:
                raise ValueError(
                    f"{stage!r} produces more than 2**62 samples; for an endless dataset, use repeat() without a number"
                )
        return lengths

    @cached_property
    def _stage_infos(self) -> list[_StageInfo]:
        lengths = [*self.lengths, *[None] * len(self.stages)]
        return [
            _StageInfo(
                stage,
                isinstance(stage, OrderStage),
                isinstance(stage, SampleStage),
                lengths[number],
                self._find_seed(number),
                sum(isinstance(before, type(stage)) for before in self.stages[:number]),
            )
            for number, stage in enumerate(self.stages)
        ]

    def _find_seed(self, number: int) -> int:
        """Return the seed of a stage; by default, the seed of the last shuffle before the stage, or 0."""
        own = getattr(self.stages[number], "seed", None) if number < len(self.stages) else None
        if own is not None:
            return int(own)
        seeds = [stage.seed for stage in self.stages[:number] if isinstance(stage, Shuffle)]
        return seeds[-1] if seeds else 0

    @property
    def has_filter(self) -> bool:
        """True if there is a filter stage, so that the number of samples is unknown."""
        return self._last_filter >= 0

    @property
    def is_shuffled(self) -> bool:
        """True if the order of the samples differs between epochs."""
        parts = getattr(self.origin, "parts", ())
        return any(isinstance(stage, Shuffle) for stage in self.stages) or any(part.is_shuffled for part in parts)

    @property
    def shuffle_quality(self) -> float | None:
        """Quality of the best shuffle stage (see `Shuffle.quality`); None if there is no shuffle stage."""
        shuffles = [(stage, number) for number, stage in enumerate(self.stages) if isinstance(stage, Shuffle)]
        return max((stage.quality(self.lengths[number] or 0) for stage, number in shuffles), default=None)

    @property
    def map_stages(self) -> list[Map]:
        """The `map` stages of the mixed pipelines, if any, followed by the `map` stages of this pipeline."""
        return [*self.origin.map_stages, *(stage for stage in self.stages if isinstance(stage, Map))]

    @cached_property
    def sources(self) -> list[ExampleSource]:
        """All sources from which the pipeline reads."""
        return self.origin.sources

    @property
    def mean_record_bytes(self) -> int:
        """Approximate size of a record in bytes; 1 if no source reports a size."""
        return max(getattr(source, "mean_bytes", 1) for source in self.sources)

    @property
    def is_remote(self) -> bool:
        """True if any source reads from remote storage."""
        return any(getattr(source, "is_remote", False) for source in self.sources)

    @property
    def length(self) -> int | None:
        """Number of samples per epoch; with a filter, the number before the last filter. None means endless."""
        return self.lengths[-1]

    def __len__(self) -> int:
        """Return the number of samples of an epoch."""
        if self.has_filter:
            raise TypeError("a pipeline with a filter has no length")
        if self.length is None:
            raise TypeError("an endless pipeline has no length")
        return self.length

    @cached_property
    def until_last_filter(self) -> CompiledPipeline:
        """The part of the pipeline up to and including the last filter."""
        return CompiledPipeline(self.origin, self.stages[: self._last_filter + 1])

    @property
    def map_stages_after_filter(self) -> list[Map]:
        """The `map` stages after the last filter."""
        return [stage for stage in self.stages[self._last_filter + 1 :] if isinstance(stage, Map)]

    @property
    def without_functions_until_filter(self) -> CompiledPipeline:
        """A copy of the pipeline without the user functions up to and including the last filter.

        Worker processes that run only the later stages receive this copy.
        """
        start = self._last_filter + 1
        head = (
            replace(stage, function=_placeholder_function) if isinstance(stage, Map | Filter) else stage
            for stage in self.stages[:start]
        )
        return CompiledPipeline(self.origin, (*head, *self.stages[start:]))

    @property
    def slice_after_filter(self) -> tuple[int, int | None]:
        """Range (start, stop) of filtered samples that the `take` and `skip` stages after the last filter keep."""
        start, stop = 0, None
        for stage in self.stages[self._last_filter + 1 :]:
            if isinstance(stage, Skip):
                start += stage.count
            elif isinstance(stage, Take):
                stop = start + stage.count if stop is None else min(stop, start + stage.count)
        return start, stop

    def fingerprint(self) -> str:
        """Return a short text that identifies the samples and their order."""
        return self._fingerprint

    @cached_property
    def _fingerprint(self) -> str:  # Cached, because every saved loader state contains the fingerprint.
        stages = [stage for stage in self.stages if isinstance(stage, OrderStage | Filter)]
        texts = [repr(replace(stage, timeout=None) if isinstance(stage, Filter) else stage) for stage in stages]
        return ".".join([self.origin.fingerprint(), *texts])

    def locate_records(self, positions: Positions) -> list[tuple[ExampleSource, NDArray[np.int64]]]:
        """Return pairs (source, positions in this source) for the samples, without reading them."""
        for info in reversed(self._stage_infos):
            if info.is_order:
                positions = info.stage.map_positions(positions, info.upstream)
        return self.origin.locate_records(positions)

    def find_shuffle_groups(self, positions: Positions) -> NDArray[np.int64]:
        """Return the shuffle group number of each sample; -1 if there is no block shuffle.

        The last block shuffle determines the groups. A group consists of several blocks whose samples are shuffled
        together.
        """
        for info in reversed(self._stage_infos):
            if isinstance(info.stage, Shuffle) and info.stage.block is not None and isinstance(positions.epochs, int):
                return info.stage.find_groups(positions.array, info.upstream or 0, positions.epochs)
            if info.is_order:
                positions = info.stage.map_positions(positions, info.upstream)
        return np.full(len(positions), -1, np.int64)

    def evaluate(self, positions: Positions, context: Context, requested: Positions | None = None) -> SampleRows:
        """Return the samples at the given positions."""
        requested = positions if requested is None else requested
        after = [positions]  # Positions of the samples in the output of each stage, from the last stage to the first.
        for info in reversed(self._stage_infos):
            if info.is_order:
                positions = info.stage.map_positions(positions, info.upstream)
            after.append(positions)
        rows = self.origin.read_rows(positions, context, requested)
        return self._apply_stages(rows, after[-2::-1], 0, context, requested)

    def evaluate_after_filter(self, rows: SampleRows, positions: Positions, context: Context) -> SampleRows:
        """Apply the stages after the last filter to samples that passed it."""
        return self._apply_stages(rows, [positions] * len(self.stages), self._last_filter + 1, context, positions)

    def _apply_stages(
        self, rows: SampleRows, after: list[Positions], start: int, context: Context, requested: Positions
    ) -> SampleRows:
        for number in range(start, len(self._stage_infos)):
            info = self._stage_infos[number]
            if not info.is_sample or not len(rows.ordinals):
                continue
            stage_input = self.build_stage_input(
                number, rows, after[number].take(rows.ordinals), requested.take(rows.ordinals), context
            )
            source, record = rows.origins[0].tolist()
            context.begin_stage(info.stage, stage_input.requested, source, record)
            rows = info.stage.apply(stage_input)
            context.end_stage(info.stage.name, rows.columns)
        return rows

    def build_stage_input(
        self, number: int, rows: SampleRows, positions: Positions, requested: Positions, context: Context
    ) -> StageInput:
        """Build the input of a stage from its number. The first `map` stage after `batch` has number `len(stages)`."""
        if number < len(self.stages):
            seed, ordinal = self._stage_infos[number].seed, self._stage_infos[number].ordinal
        else:
            seed, ordinal = self._find_seed(number), 0
        seed = (seed + context.part_seed) & (1 << 64) - 1
        return StageInput(rows, positions, requested, self.sources, number, ordinal, seed, context)

    def evaluate_with_substitutes(self, positions: Positions, context: Context) -> SampleRows:
        """Return the samples at the given positions; replace each failed sample with another sample of the epoch."""
        rows = self.evaluate(positions, context)
        num_skipped = len(context.skipped)
        for attempt in range(_MAX_ATTEMPTS):
            missing = np.setdiff1d(np.arange(len(positions)), rows.ordinals)
            if not len(missing):
                return rows
            found = self.evaluate(self._choose_substitutes(positions.take(missing), attempt), context)
            del context.skipped[num_skipped:]  # Report the failed samples, but not failed substitutes.
            substitutes = SampleRows(found.columns, missing[found.ordinals], found.origins)
            rows = concatenate_rows([rows, substitutes]) if len(rows) else substitutes
        raise context.skipped[0].error

    def _choose_substitutes(self, positions: Positions, attempt: int) -> Positions:
        length = min(self.length or 1 << 31, 1 << 31)
        values = positions.array
        found = np.empty(len(positions), np.int64)
        for epoch, rows in positions.by_epoch():
            draws = Draws(self._find_seed(len(self.stages)), epoch)
            found[rows] = draws.integers(values[rows], _SUBSTITUTE_STAGE, length, attempt)
        return Positions(positions.epochs, found)

    def __repr__(self) -> str:
        """Return the expression that creates the pipeline, as text."""
        return ".".join([repr(self.origin), *map(repr, self.stages)])


def _placeholder_function(*_: Any) -> None:
    """Placeholder for a user function that this process does not call."""
