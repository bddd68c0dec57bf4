"""What is measured: the tasks, their data, and what has to be reached."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

# "pack": one run from call to end. "pass": passes over the data until the time is up. "value": figures of one run.
Measure = Literal["pack", "pass", "value"]


@dataclass(frozen=True)
class Ratio:
    """Our rate is at least `factor` times the best rate among the variants of a peer ("" for every peer).

    Parameters
    ----------
    peer : str
    factor : float
    ours : str
        Our variant; the best one by default.
    """

    peer: str
    factor: float
    ours: str = ""


@dataclass(frozen=True)
class Bound:
    """A figure of each of our variants is at least, or at most, `value`."""

    figure: str
    least: bool
    value: float
    unit: str


@dataclass(frozen=True)
class Task:
    """One thing that is measured.

    Parameters
    ----------
    name : str
    title : str
    measure : {"pack", "pass", "value"}
    data : str
        Kind of the data set.
    num_records : int
        Records per batch.
    goals : tuple of Ratio or Bound
    limit : tuple of str
        Variants of the contender `limits` that bound the task: the times of those with one thread add up.
    also : tuple of str
        Data sets that are needed too.
    """

    name: str
    title: str
    measure: Measure
    data: str
    num_records: int = 0
    goals: tuple[Ratio | Bound, ...] = field(default=())
    limit: tuple[str, ...] = field(default=())
    also: tuple[str, ...] = field(default=())


_SMALL = (Ratio("array_record", 5, "ragged"), Ratio("array_record", 1.5, "list"))
_READ = ("page cache read, 1 thread", "CRC-32C, 1 thread")

TASKS = {
    task.name: task
    for task in (
        Task(
            "P1a",
            "pack 4,000 photos, file bytes passed through",
            "pack",
            "photos",
            goals=(Ratio("tensorflow", 1.3),),
            limit=("photos copied, 2 threads",),
        ),
        Task(
            "P1b",
            "pack 4,000 photos, decoded and re-encoded as JPEG of quality 95",
            "pack",
            "photos",
            goals=(Ratio("", 1.4),),
            limit=("photos recoded by Pillow, 2 threads",),
        ),
        Task(
            "P2a",
            "iterate over 64 KiB records in file order, batches of 64",
            "pass",
            "big",
            64,
            (Ratio("tensorflow", 3), Ratio("array_record", 3), Ratio("tfrecord", 1)),
            _READ,
        ),
        Task("P2b", "iterate over 60,000 PNG digits, batches of 1,024", "pass", "digits", 1024, _SMALL, _READ),
        Task("P2c", "iterate over 1 M tabular records, batches of 1,024", "pass", "tabular", 1024, _SMALL, _READ),
        Task(
            "P3a",
            "tabular Examples to 39 columns, batches of 1,024",
            "pass",
            "tabular",
            1024,
            (Ratio("tensorflow", 5),),
        ),
        Task(
            "P3b", "SequenceExamples to padded ids, batches of 128", "pass", "sequence", 128, (Ratio("tensorflow", 5),)
        ),
        Task(
            "index",
            "index of 1 M records from frame headers, kept beside the shards",
            "pass",
            "tabular",
            goals=(Bound("rate", True, 500_000, "records/s"),),
        ),
        Task(
            "check",
            "every frame found and every checksum verified, 64 KiB records",
            "pass",
            "big",
            goals=(Bound("gb_per_s", True, 4, "GB/s"),),
            limit=_READ,
        ),
        Task(
            "open",
            "open an indexed set of 1 M records",
            "value",
            "tabular",
            goals=(Bound("open_ms", False, 50, "ms"), Bound("bytes_per_record", False, 24, "bytes/record")),
        ),
        Task(
            "memory",
            "peak memory of the process tree",
            "value",
            "big",
            goals=(Bound("peak_mb", False, 300, "MB"),),
            also=("tabular", "photos"),
        ),
        Task("limits", "what the machine does at most", "pass", "big", also=("photos",)),
    )
}
