"""Interfaces of the stages of a pipeline, and the input and context that a stage receives."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import inf
from struct import Struct
from time import monotonic, perf_counter, thread_time
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from recordmill.allocator import Memory
from recordmill.concurrency.status_page import StatusPage
from recordmill.decode.random import Draws
from recordmill.errors import RecordmillError
from recordmill.pipeline.failures import SkippedSample
from recordmill.pipeline.function_lock import FunctionLock
from recordmill.pipeline.samples import Positions, SampleRows
from recordmill.pipeline.stats import Timings
from recordmill.types import Ragged

if TYPE_CHECKING:
    from recordmill.pipeline.compiled_pipeline import ExampleSource

_CALL_HEADER = Struct("<qqqdd")
_MASK = (1 << 64) - 1


@runtime_checkable
class OrderStage(Protocol):
    """Interface of stages that select or reorder samples. They compute positions and never read samples."""

    def length(self, upstream: int | None) -> int | None:
        """Return the number of samples after this stage; `upstream` is the number before it. None means endless."""
        ...

    def map_positions(self, positions: Positions, upstream: int | None) -> Positions:
        """Map positions after this stage to positions before it."""
        ...


@runtime_checkable
class SampleStage(Protocol):
    """Interface of stages that change or drop samples."""

    @property
    def name(self) -> str:
        """Name of this stage in the statistics."""
        ...

    def apply(self, stage_input: StageInput) -> SampleRows:
        """Apply the stage to samples, and return the samples that remain."""
        ...


@dataclass(frozen=True, eq=False, slots=True)
class StageInput:
    """Input passed to one stage.

    Parameters
    ----------
    rows : SampleRows
        Samples before the stage.
    positions : Positions
        Positions of the rows at this stage; random parameters depend on them.
    requested : Positions
        Positions of the rows in the epoch that the user iterates over, for error messages.
    sources : sequence of ExampleSource
        Sources that `rows.origins` refers to.
    number : int
        Index of the stage in the pipeline.
    ordinal : int
        Number of stages of the same type before this one.
    seed : int
        Seed of the random parameters.
    context : Context
    """

    rows: SampleRows
    positions: Positions
    requested: Positions
    sources: Sequence[ExampleSource]
    number: int
    ordinal: int
    seed: int
    context: Context

    def draws(self, epoch: int) -> Draws:
        """Return the random number generator of this stage for an epoch."""
        return Draws(self.seed, epoch)

    def locate(self, row: int) -> dict[str, Any]:
        """Return shard, record and offset of a row as keyword arguments of an error, or {} if they are unknown."""
        if row >= len(self.rows.origins):
            return {}
        source, record = self.rows.origins[row]
        shard, inside, offset = self.sources[int(source)].where(int(record))
        return {"shard": shard, "record": inside, "offset": offset}

    def entry_points(self, feature: str) -> Ragged | None:
        """Return the stored entry points of the JPEG images in a feature; None if no entry points are stored.

        Decoding of an image can start at its entry points. The result has one row per sample, see `find_entry_points`.
        """
        origins, sources = self.rows.origins, self.sources
        if len(sources) == 1:
            return sources[0].entry_points(origins[:, 1], feature)
        tables = [b""] * len(origins)
        for number in np.unique(origins[:, 0]):
            rows = np.flatnonzero(origins[:, 0] == number)
            stored = sources[number].entry_points(origins[rows, 1], feature)
            for row, table in zip(rows, stored if stored is not None else (), strict=stored is not None):
                tables[row] = table
        return Ragged.from_rows(tables) if any(tables) else None


@dataclass(frozen=True, slots=True)
class RunningCall:
    """An unfinished call of a user function, or of a stage that processes several samples together.

    Parameters
    ----------
    stage : str
        Representation of the stage.
    function : str
        Name of the function; empty for a stage that processes samples together.
    position : int
        Position of the sample in the epoch; of the first sample if there are several.
    source, record : int
        Index of the sample's source and position in that source; -1 if unknown.
    timeout : float, optional
        Seconds after which the call counts as hanging.
    started : float
        Start of the call on the clock of `time.monotonic`, which all processes share.
    """

    stage: str
    function: str
    position: int
    source: int
    record: int
    timeout: float | None
    started: float

    @property
    def seconds(self) -> float:
        """Seconds since the call of the user function or stage started."""
        return monotonic() - self.started

    def error_fields(self, sources: Sequence[ExampleSource]) -> dict[str, Any]:
        """Return the stage, function, sample position and record of this call, as keyword arguments of an error."""
        fields = {"stage": self.stage, "function": self.function, "position": self.position}
        return fields | (sources[self.source].where(self.record)._asdict() if self.source >= 0 else {})

    def to_bytes(self) -> bytes:
        """Serialize the call for the status page, the shared memory that a worker process writes for its consumer."""
        timeout = inf if self.timeout is None else self.timeout
        header = _CALL_HEADER.pack(self.position, self.source, self.record, timeout, self.started)
        return header + f"{self.stage}\0{self.function}".encode()

    @classmethod
    def from_status_page(cls, status: bytes) -> RunningCall | None:
        """Parse the call that a worker process wrote to shared memory; return None if there is no call."""
        if len(status) < _CALL_HEADER.size:
            return None
        position, source, record, timeout, started = _CALL_HEADER.unpack_from(status)
        stage, _, function = status[_CALL_HEADER.size :].decode("utf-8", "replace").partition("\0")
        return cls(stage, function, position, source, record, None if timeout == inf else timeout, started)


@dataclass(slots=True)
class Context:
    """Options and results of one evaluation of a pipeline in one thread, such as timings and skipped samples.

    Parameters
    ----------
    collect_errors : bool
        Whether to add failed samples to `skipped` instead of raising their errors.
    threads : int
        Number of threads inside one native call.
    memory : Memory, optional
        Allocator of large arrays.
    first_results : dict
        Names, dtypes and shapes of the first result of each function; shared by all evaluations of a run.
    pickled_maps : tuple of Map
        Functions whose return values must be picklable because they run in worker processes.
    function_lock : FunctionLock
        Lock of user functions; shared by all evaluations of a run.
    skipped : list of SkippedSample
    timings : Timings
    num_bytes : int
        Bytes of the features that were read.
    peak_bytes : int
        Largest number of bytes that the samples occupied after any stage.
    first_source : int
        Inside a part of a mixture: number of sources in the parts before it.
    part_seed : int
        Inside a part of a mixture: number that is added to seeds, so that the random numbers of the parts differ.
        Otherwise 0.
    """

    collect_errors: bool = False
    threads: int = 1
    memory: Memory | None = None
    first_results: dict[Any, Any] = field(default_factory=dict)
    pickled_maps: tuple[Any, ...] = ()
    function_lock: FunctionLock = field(default_factory=FunctionLock)
    skipped: list[SkippedSample] = field(default_factory=list)
    timings: Timings = field(default_factory=Timings)
    num_bytes: int = 0
    peak_bytes: int = 0
    first_source: int = 0
    part_seed: int = 0
    _call: tuple[Callable[[int, float], RunningCall], int, float] | None = None
    _stage_started: tuple[float, float] = (0.0, 0.0)

    def begin_stage(
        self, stage: object, requested: Positions | None = None, source: int = -1, record: int = -1
    ) -> None:
        """Start timing a stage. In a worker process, also write the stage and its first sample to shared memory."""
        if StatusPage.current is not None and requested is not None and len(requested):
            source = source if source < 0 else self.first_source + source
            call = RunningCall(str(stage), "", requested.epoch_and_position(0)[1], source, record, None, monotonic())
            StatusPage.current.write(call.to_bytes())
        self._stage_started = perf_counter(), thread_time()

    def end_stage(self, name: str, columns: Mapping[str, Any] | None = None) -> int:
        """Stop timing a stage, and return the number of bytes in its result, `columns`."""
        started, cpu_started = self._stage_started
        busy, elapsed = thread_time() - cpu_started, perf_counter() - started
        self.timings.add(name, busy, max(0.0, elapsed - busy))
        if columns is None:
            return 0
        if StatusPage.current is not None:
            StatusPage.current.clear()
        num_bytes = sum(map(_count_column_bytes, columns.values()))
        self.peak_bytes = max(self.peak_bytes, num_bytes)
        return num_bytes

    def begin_call(self, describe: Callable[[int, float], RunningCall], row: int) -> None:
        """Store the call of a user function for a row. In a worker process, also write the call to shared memory."""
        started = monotonic()
        self._call = describe, row, started
        if StatusPage.current is not None:
            StatusPage.current.write(describe(row, started).to_bytes())

    def end_call(self) -> None:
        """Delete the call that `begin_call` stored. To be called after the user function has returned."""
        self._call = None
        if StatusPage.current is not None:
            StatusPage.current.clear()

    @property
    def current_call(self) -> RunningCall | None:
        """The user function call that is running in this context; None if no function is running."""
        if (call := self._call) is None:
            return None
        describe, row, started = call
        return describe(row, started)

    def raise_or_skip(self, epoch: int, position: int, error: RecordmillError) -> None:
        """Raise the error of a sample, or add it to `skipped` if errors are collected."""
        if not self.collect_errors:
            raise error from (error.__cause__ or getattr(error, "cause", None))
        self.skipped.append(SkippedSample(epoch, position, error))

    @contextmanager
    def enter_mixture_part(self, number: int, first_source: int) -> Iterator[None]:
        """Use the source indexes and random numbers of one dataset of a mixture inside the `with` block.

        `first_source` is the index of the first source of this dataset among the sources of the mixture.
        """
        outer = self.first_source, self.part_seed
        self.first_source += first_source
        self.part_seed = _scramble_bits(self.part_seed + number + 1)
        try:
            yield
        finally:
            self.first_source, self.part_seed = outer


def _scramble_bits(number: int) -> int:
    """Return 64 well-mixed bits of a number (the finalizer of SplitMix64)."""
    word = number * 0x9E3779B97F4A7C15 & _MASK
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 & _MASK
    word = (word ^ word >> 27) * 0x94D049BB133111EB & _MASK
    return word ^ word >> 31


def _count_column_bytes(column: Any) -> int:
    """Return the number of bytes in a column, which may be a list of arrays of different sizes."""
    if isinstance(column, list) and column and isinstance(column[0], np.ndarray):
        return sum(getattr(row, "nbytes", 0) for row in column)
    return int(getattr(column, "nbytes", 0))
