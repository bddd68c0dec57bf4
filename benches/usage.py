"""CPU time and memory of process trees, from /proc."""

from __future__ import annotations

import os
import resource
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    # Not at run time, because OneFlow needs Python 3.10, which does not have Self.
    from typing import Self


def group_members(group: int) -> Iterator[int]:
    """Yield the ids of the processes of a process group.

    Parameters
    ----------
    group : int

    Yields
    ------
    int
    """
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            if os.getpgid(int(name)) == group:
                yield int(name)
        except ProcessLookupError:
            continue


def own_seconds() -> float:
    """Return the CPU seconds of this process, its finished children and the other processes of its group."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    total = sum(usage.ru_utime + usage.ru_stime for usage in usages)
    tick = os.sysconf("SC_CLK_TCK")
    for process in group_members(os.getpgrp()):
        if process == os.getpid():
            continue
        try:
            with open(f"/proc/{process}/stat", encoding="utf-8") as file:
                fields = file.read().rsplit(")", 1)[1].split()
            total += (int(fields[11]) + int(fields[12])) / tick
        except OSError:
            continue
    return total


def busy_seconds() -> float:
    """Return the CPU seconds of all processes of the machine, including time that its host took (steal)."""
    with open("/proc/stat", encoding="ascii") as file:
        fields = [int(field) for field in file.readline().split()[1:9]]
    idle, waiting = fields[3:5]
    return (sum(fields) - idle - waiting) / os.sysconf("SC_CLK_TCK")


class PeakMemory:
    """Context manager that measures the peak proportional set size of a process group. Shared memory counts once.

    Parameters
    ----------
    group : int
    interval_s : float
    """

    def __init__(self, group: int, interval_s: float = 0.02) -> None:
        self.peak_bytes = 0
        self._group, self._interval_s, self._done = group, interval_s, threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def _watch(self) -> None:
        while not self._done.wait(self._interval_s):
            self.peak_bytes = max(self.peak_bytes, sum(map(_proportional_bytes, group_members(self._group))))

    def __enter__(self) -> Self:
        """Start sampling the memory in a thread."""
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop sampling."""
        self._done.set()
        self._thread.join()


def _proportional_bytes(process: int) -> int:
    try:
        with open(f"/proc/{process}/smaps_rollup", encoding="ascii") as file:
            return next(int(line.split()[1]) * 1024 for line in file if line.startswith("Pss:"))
    except (OSError, StopIteration):
        return 0
