"""Statistics of a loader: where workers spend their time, and what limits the throughput."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from recordmill.types import Traffic

if TYPE_CHECKING:
    from recordmill.concurrency.pool import PoolCounters, WorkerPool
    from recordmill.pipeline.engine import BatchResult


@dataclass(slots=True)
class Timings:
    """Busy time and wait time by stage, in seconds.

    Parameters
    ----------
    busy : dict of str to float
        CPU time of the threads in the stage.
    waited : dict of str to float
        Time in the stage without CPU time: waits for storage, the interpreter lock, a CPU core or other threads, and
        waits inside user functions.
    """

    busy: dict[str, float] = field(default_factory=dict)
    waited: dict[str, float] = field(default_factory=dict)

    def add(self, stage: str, busy: float, waited: float) -> None:
        """Add seconds to the times of a stage."""
        self.busy[stage] = self.busy.get(stage, 0.0) + busy
        self.waited[stage] = self.waited.get(stage, 0.0) + waited

    def merge(self, other: Timings) -> None:
        """Add the times in another `Timings` to this one."""
        for stage, busy in other.busy.items():
            self.busy[stage] = self.busy.get(stage, 0.0) + busy
            self.waited[stage] = self.waited.get(stage, 0.0) + other.waited[stage]


# If the consumer waits for less than this share of the time, the consumer is the bottleneck.
_CONSUMER_LIMITED = 0.1
# If the slowest stage spends at least this share of its time waiting, `bottleneck` also names the cause of the wait.
_STAGE_WAITS = 0.3
_DESCRIPTIONS = {
    "read": "reading and parsing records",
    "decode": "decoding",
    "map": "the Python function of map",
    "filter": "the Python function of filter",
    "batch": "collating batches",
}
_WAITS_FOR = {
    "read": "storage or a CPU core",
    "decode": "a CPU core",
    "map": "the interpreter lock, a CPU core, or an operation of the function",
    "filter": "the interpreter lock, a CPU core, or an operation of the function",
}
_ADVICE = {
    "read": "use more threads; for compressed shards, use shuffle(block=…) or no compression",
    "decode": "use more threads, or decode less: smaller crops first, uint8 instead of float32",
    "map": 'use map(workers="processes") if the function holds the interpreter lock',
    "filter": "call filter before decode, if the function does not need decoded features",
    "batch": "use uint8 instead of float32 for smaller batches",
}
# Advice for two cases: the read stage waits for storage, or functions of `map` already run in worker processes.
_ADVICE_STORAGE = "use faster storage or shuffle(block=…)"
_ADVICE_PROCESSES = "use more processes (threads=) if there are cores for them"
_WAITS_FOR_IN_PROCESSES = "a CPU core, or an operation of the function"


@dataclass(frozen=True, slots=True)
class StageStats:
    """Time of one stage, summed over all workers.

    Parameters
    ----------
    name : str
        Name of the kind of stage: "read", "decode", "map", "filter" or "batch".
    busy_s : float
        Seconds of CPU time in the stage.
    waited_s : float
        Seconds in the stage without CPU time: waits for storage, the interpreter lock, a CPU core or other threads, and
        waits inside user functions.
    """

    name: str
    busy_s: float
    waited_s: float = 0.0

    @property
    def inside_s(self) -> float:
        """Seconds in the stage: CPU time plus wait time."""
        return self.busy_s + self.waited_s

    @property
    def idle(self) -> float:
        """Wait time as a share of the time in the stage, from 0 to 1."""
        return self.waited_s / self.inside_s if self.inside_s else 0.0


@dataclass(frozen=True, slots=True)
class LoaderStats:
    """Statistics of all epochs of a loader.

    Parameters
    ----------
    elements : int
        Number of delivered batches, or of delivered samples if the dataset is not batched.
    samples : int
        Number of samples that were requested for these elements.
    num_bytes : int
        Bytes of parsed features.
    elapsed_s : float
        Seconds of iteration, from the first request to the last delivery.
    waited_s : float
        Part of `elapsed_s` in which the consumer waited for the loader.
    workers : int
        Number of worker threads or processes.
    worker_wait_s : float
        Seconds that workers waited for tasks, summed over all workers.
    queue_depth : float
        Mean number of finished tasks whenever the consumer requests an element. A task builds one element, or several
        small elements.
    stages : tuple of StageStats
        Stages, the slowest first.
    in_processes : bool
        Whether functions of `map` run in worker processes.
    traffic : Traffic, optional
        Requests and bytes of remote shards; does not include requests of worker processes.
    shuffle_quality : float or None
        Probability that two consecutive samples were stored in different blocks or windows: 1 for a full shuffle, None
        without a shuffle.
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
    traffic: Traffic | None = None
    shuffle_quality: float | None = None

    @property
    def samples_per_s(self) -> float:
        """Samples per second."""
        return self.samples / self.elapsed_s if self.elapsed_s else 0.0

    @property
    def bottleneck(self) -> str:
        """One sentence that names the bottleneck and suggests a remedy."""
        if not self.elements:
            return "No batch was delivered yet."
        share = self.waited_s / self.elapsed_s if self.elapsed_s else 0.0
        if share < _CONSUMER_LIMITED:
            return f"The consumer: it waited for batches for {share:.0%} of the time, so the loader keeps up."
        if not self.stages:
            return f"The consumer waited for {share:.0%} of the time."
        stage, advice = self._describe_slowest_stage(), self._choose_advice()
        return f"{stage}, while the consumer waited for {share:.0%} of the time; {advice}."

    def _describe_slowest_stage(self) -> str:
        slowest, total = self.stages[0], sum(stage.inside_s for stage in self.stages) or 1.0
        text = _DESCRIPTIONS.get(slowest.name, slowest.name) + (" (storage)" if self._waits_for_storage else "")
        waits_for = _WAITS_FOR.get(slowest.name, "a CPU core")
        if self.in_processes and slowest.name == "map":
            waits_for = _WAITS_FOR_IN_PROCESSES
        waiting = f", {slowest.idle:.0%} of that waiting for {waits_for}" if slowest.idle >= _STAGE_WAITS else ""
        return f"{text[0].upper()}{text[1:]}: {slowest.inside_s / total:.0%} of the work{waiting}"

    def _choose_advice(self) -> str:
        name = self.stages[0].name
        if self._waits_for_storage:
            return _ADVICE_STORAGE
        return _ADVICE_PROCESSES if self.in_processes and name == "map" else _ADVICE.get(name, "use more threads")

    @property
    def _waits_for_storage(self) -> bool:
        return self.stages[0].name == "read" and self.stages[0].idle >= _STAGE_WAITS

    def to_json(self) -> dict[str, Any]:
        """Return the statistics as a dict that can be written as JSON."""
        names = ("elements", "samples", "num_bytes", "elapsed_s", "waited_s", "workers", "worker_wait_s", "queue_depth")
        traffic = {} if self.traffic is None else {"traffic": asdict(self.traffic)}
        return (
            {name: getattr(self, name) for name in (*names, "shuffle_quality")}
            | traffic
            | {
                "stages": {stage.name: {"busy_s": stage.busy_s, "waited_s": stage.waited_s} for stage in self.stages},
                "samples_per_s": self.samples_per_s,
                "bottleneck": self.bottleneck,
            }
        )

    def _describe_traffic_and_shuffle(self) -> str:
        traffic = self.traffic or Traffic()
        text = (
            f"{traffic.requests:,} requests ({traffic.retries:,} repeated), {traffic.num_bytes / 1e6:,.1f} MB received"
        )
        text += f", {traffic.cached_bytes / 1e6:,.1f} MB from the cache" if traffic.cached_bytes else ""
        return text + ("" if self.shuffle_quality is None else f", shuffle quality {self.shuffle_quality:.3f}")

    def __str__(self) -> str:
        """Return a readable summary of several lines."""
        lines = [f"{self.samples:,} samples in {self.elapsed_s:.2f} s: {self.samples_per_s:,.0f}/s"]
        lines += [
            f"  {stage.name:<8}{stage.busy_s:10.2f} s busy, {stage.waited_s:.2f} s waiting" for stage in self.stages
        ]
        if self.traffic is not None:
            lines.append(f"  {self._describe_traffic_and_shuffle()}")
        lines.append(f"  {'wait':<8}{self.waited_s:10.2f} s of the consumer, {self.worker_wait_s:.2f} s of the workers")
        return "\n".join([*lines, self.bottleneck])


@dataclass(slots=True)
class StatsCollector:
    """Collects the numbers of `LoaderStats`. Only the thread of the consumer writes them.

    Parameters
    ----------
    element_bytes : int
        Approximate size of an element in bytes, which the next epochs use; 0 if unknown.
    element_s : float
        Seconds that functions of `map` take for an element.
    num_requests, num_ready : int
        Number of requests for a result; sum, over these requests, of the number of results that were finished.
    """

    element_bytes: int = 0
    element_s: float = 0.0
    elements: int = 0
    samples: int = 0
    num_bytes: int = 0
    elapsed_s: float = 0.0
    waited_s: float = 0.0
    workers: int = 0
    worker_wait_s: float = 0.0
    num_requests: int = 0
    num_ready: int = 0
    in_processes: bool = False
    timings: Timings = field(default_factory=Timings)
    pools: list[WorkerPool] = field(default_factory=list)

    def add(self, result: BatchResult) -> None:
        """Add the samples, bytes and times of a result."""
        self.samples += result.num_samples
        self.num_bytes += result.num_bytes
        self.timings.merge(result.timings)

    def count_request(self, pool: WorkerPool) -> None:
        """Increment `num_requests`, and add the number of results that are ready now to `num_ready`."""
        self.num_requests += 1
        self.num_ready += pool.num_ready

    def add_pool(self, pool: WorkerPool) -> None:
        """Include the counters of a worker pool from now on."""
        self.pools.append(pool)

    def remove_pool(self, pool: WorkerPool) -> None:
        """Add the final counters of a worker pool, and stop tracking the pool."""
        self.workers, self.worker_wait_s = self._sum_counters(pool.counters())
        self.pools.remove(pool)

    def _sum_counters(self, *counters: PoolCounters) -> tuple[int, float]:
        """Combine `counters` with those of removed pools: return the largest worker count and the total wait time."""
        workers = max([self.workers, *(len(pool.workers) for pool in counters)])
        return workers, self.worker_wait_s + sum(worker.waited_s for pool in counters for worker in pool.workers)

    def stats(self) -> LoaderStats:
        """Return the statistics so far."""
        workers, worker_wait_s = self._sum_counters(*(pool.counters() for pool in list(self.pools)))
        busy, waited = self.timings.busy, self.timings.waited
        stages = [StageStats(name, busy[name], waited[name]) for name in list(busy)]
        return LoaderStats(
            self.elements,
            self.samples,
            self.num_bytes,
            self.elapsed_s,
            self.waited_s,
            workers,
            worker_wait_s,
            self.num_ready / self.num_requests if self.num_requests else 0.0,
            tuple(sorted(stages, key=lambda stage: -stage.inside_s)),
            self.in_processes,
        )
