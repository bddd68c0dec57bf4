"""Where the time of a worker goes: computing in a stage, or waiting in it."""

from __future__ import annotations

from dataclasses import dataclass, field
from time import perf_counter, thread_time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from recordmill.concurrency.pool import PoolCounters, WorkerPool
    from recordmill.pipeline.builder import Made


@dataclass(slots=True)
class Spent:
    """Seconds by stage.

    Parameters
    ----------
    busy : dict of str to float
        In which the thread in the stage computed.
    waited : dict of str to float
        In which it was in the stage and did not: for storage, the interpreter lock, a core, other threads, or whatever
        a function waits for.
    """

    busy: dict[str, float] = field(default_factory=dict)
    waited: dict[str, float] = field(default_factory=dict)

    def timed(self, stage: str) -> _Inside:
        """Count the time spent in a `with` statement for a stage."""
        return _Inside(self, stage)

    def count(self, stage: str, busy: float, waited: float) -> None:
        """Count time for a stage."""
        self.busy[stage] = self.busy.get(stage, 0.0) + busy
        self.waited[stage] = self.waited.get(stage, 0.0) + waited

    def add(self, other: Spent) -> None:
        """Count what was spent elsewhere."""
        for stage, busy in other.busy.items():
            self.count(stage, busy, other.waited[stage])

    def total(self, stage: str) -> float:
        """Seconds in a stage, computing or not."""
        return self.busy.get(stage, 0.0) + self.waited.get(stage, 0.0)


class _Inside:
    """Two looks at the clocks; a class, as a generator would take longer than they do."""

    __slots__ = ("_begun", "_computed", "_spent", "_stage")

    def __init__(self, spent: Spent, stage: str) -> None:
        self._spent, self._stage = spent, stage

    def __enter__(self) -> None:
        self._begun, self._computed = perf_counter(), thread_time()

    def __exit__(self, *_: object) -> None:
        busy, inside = thread_time() - self._computed, perf_counter() - self._begun
        self._spent.count(self._stage, busy, max(0.0, inside - busy))


# A consumer that waits for less than this share of the time is itself what everything waits for.
_PATIENT = 0.1
# A stage that spends this share of its time waiting is told to do so.
_IDLE = 0.3
_PARTS = {
    "read": "reading and parsing records",
    "decode": "decoding",
    "map": "the Python function of map",
    "filter": "the Python function of filter",
    "batch": "putting batches together",
}
_AWAITED = {
    "read": "storage or a core",
    "decode": "a core",
    "map": "the interpreter lock, a core, or what the function waits for",
    "filter": "the interpreter lock, a core, or what the function waits for",
}
_ADVICE = {
    "read": "more threads help; compressed shards want shuffle(block=…), or no compression",
    "decode": "more threads help; so does decoding less: smaller crops first, uint8 instead of float32",
    "map": 'map(workers="processes") helps where the function holds the interpreter lock',
    "filter": "filter before decode, on the features that decide",
    "batch": "uint8 instead of float32 makes smaller batches",
}
# Where other advice holds: for storage that is waited for, and for functions that have processes already.
_WAITING_READ = "faster storage or shuffle(block=…) helps"
_IN_PROCESSES = "more processes (threads=) help if there are cores for them"
_AWAITED_IN_PROCESSES = "a core, or what the function waits for"


@dataclass(frozen=True, slots=True)
class StageStats:
    """Time of one stage, of all workers together.

    Parameters
    ----------
    name : str
    busy_s : float
        Seconds in which a worker was in the stage and computed.
    waited_s : float
        Seconds in which a worker was in the stage and did not compute: it waited for storage, the interpreter lock, a
        core, other threads, or whatever a function waits for.
    """

    name: str
    busy_s: float
    waited_s: float = 0.0

    @property
    def inside_s(self) -> float:
        """Seconds in the stage, computing or not."""
        return self.busy_s + self.waited_s

    @property
    def idle(self) -> float:
        """Share of these seconds in which nothing was computed."""
        return self.waited_s / self.inside_s if self.inside_s else 0.0


@dataclass(frozen=True, slots=True)
class LoaderStats:
    """A loader's work since it began, all epochs together.

    Parameters
    ----------
    elements : int
        Batches (samples, without `batch`) that were delivered.
    samples : int
        That were asked for to make them.
    num_bytes : int
        Of parsed features.
    elapsed_s : float
        Seconds from the first order to the last delivery, iterations alone.
    waited_s : float
        Seconds of it in which the consumer waited for the loader.
    workers : int
    worker_wait_s : float
        Seconds that workers waited for orders, together.
    queue_depth : float
        Jobs (of one element or several small ones) that were ready when the consumer asked, on average.
    stages : tuple of StageStats
        In the order of their time.
    in_processes : bool
        Whether functions of `map` run in processes.
    """

    elements: int
    samples: int
    num_bytes: int
    elapsed_s: float
    waited_s: float
    workers: int
    worker_wait_s: float
    queue_depth: float
    stages: tuple[StageStats, ...]
    in_processes: bool = False

    @property
    def samples_per_s(self) -> float:
        """Samples delivered in a second."""
        return self.samples / self.elapsed_s if self.elapsed_s else 0.0

    @property
    def bottleneck(self) -> str:
        """One sentence on what everything else waits for."""
        if not self.elements:
            return "Nothing was delivered yet."
        share = self.waited_s / self.elapsed_s if self.elapsed_s else 0.0
        if share < _PATIENT:
            return f"The consumer: it waited for batches in {share:.0%} of the time, so the loader keeps up."
        if not self.stages:
            return f"The consumer waited in {share:.0%} of the time."
        return f"{self._narrowest()}, while the consumer waited in {share:.0%} of the time; {self._advice()}."

    def _narrowest(self) -> str:
        """The stage that takes longest, and how much of that it waits for something else."""
        first, total = self.stages[0], sum(stage.inside_s for stage in self.stages) or 1.0
        part = _PARTS.get(first.name, first.name) + (" (storage)" if self._waits_for_storage else "")
        for_what = _AWAITED.get(first.name, "a core")
        if self.in_processes and first.name == "map":
            for_what = _AWAITED_IN_PROCESSES
        waiting = f", {first.idle:.0%} of that waiting for {for_what}" if first.idle >= _IDLE else ""
        return f"{part[0].upper()}{part[1:]}: {first.inside_s / total:.0%} of the work{waiting}"

    def _advice(self) -> str:
        name = self.stages[0].name
        if self._waits_for_storage:
            return _WAITING_READ
        return _IN_PROCESSES if self.in_processes and name == "map" else _ADVICE.get(name, "more threads help")

    @property
    def _waits_for_storage(self) -> bool:
        return self.stages[0].name == "read" and self.stages[0].idle >= _IDLE

    def to_json(self) -> dict[str, Any]:
        """Plain form."""
        names = ("elements", "samples", "num_bytes", "elapsed_s", "waited_s", "workers", "worker_wait_s", "queue_depth")
        return {name: getattr(self, name) for name in names} | {
            "stages": {one.name: {"busy_s": one.busy_s, "waited_s": one.waited_s} for one in self.stages},
            "samples_per_s": self.samples_per_s,
            "bottleneck": self.bottleneck,
        }

    def __str__(self) -> str:
        """Readable form, a line each."""
        lines = [f"{self.samples:,} samples in {self.elapsed_s:.2f} s: {self.samples_per_s:,.0f}/s"]
        lines += [
            f"  {stage.name:<8}{stage.busy_s:10.2f} s busy, {stage.waited_s:.2f} s waiting" for stage in self.stages
        ]
        lines.append(f"  {'wait':<8}{self.waited_s:10.2f} s of the consumer, {self.worker_wait_s:.2f} s of the workers")
        return "\n".join([*lines, self.bottleneck])


@dataclass(slots=True)
class Tally:
    """Counts what `LoaderStats` tells; written by the consumer alone."""

    # From run to run: how large elements are, 0 while that is not known, and how long functions take for one.
    element_bytes: int = 0
    element_s: float = 0.0
    elements: int = 0
    samples: int = 0
    num_bytes: int = 0
    elapsed_s: float = 0.0
    waited_s: float = 0.0
    workers: int = 0
    worker_wait_s: float = 0.0
    asked: int = 0
    depths: int = 0
    in_processes: bool = False
    spent: Spent = field(default_factory=Spent)
    pools: list[WorkerPool] = field(default_factory=list)

    def count(self, made: Made) -> None:
        """Add what making some elements cost."""
        self.samples += made.num_samples
        self.num_bytes += made.num_bytes
        self.spent.add(made.spent)

    def ask(self, pool: WorkerPool) -> None:
        """Count the results that are ready when the consumer asks for one."""
        self.asked += 1
        self.depths += pool.num_ready

    def open(self, pool: WorkerPool) -> None:
        """Include the counters of a pool from now on."""
        self.pools.append(pool)

    def close(self, pool: WorkerPool) -> None:
        """Add the final counters of a pool."""
        self.workers, self.worker_wait_s = self._with(pool.counters())
        self.pools.remove(pool)

    def _with(self, *counters: PoolCounters) -> tuple[int, float]:
        """Return the number of workers and the seconds that they waited, including those of pools still in use."""
        workers = max([self.workers, *(len(one.workers) for one in counters)])
        return workers, self.worker_wait_s + sum(worker.waited_s for one in counters for worker in one.workers)

    def stats(self) -> LoaderStats:
        """Return the figures of this moment."""
        workers, worker_wait_s = self._with(*(pool.counters() for pool in list(self.pools)))
        busy, waited = self.spent.busy, self.spent.waited
        stages = [StageStats(name, busy[name], waited[name]) for name in list(busy)]
        return LoaderStats(
            self.elements,
            self.samples,
            self.num_bytes,
            self.elapsed_s,
            self.waited_s,
            workers,
            worker_wait_s,
            self.depths / self.asked if self.asked else 0.0,
            tuple(sorted(stages, key=lambda stage: -stage.inside_s)),
            self.in_processes,
        )
