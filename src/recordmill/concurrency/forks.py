"""Count forks. A forked process has no worker threads, and must not reuse memory that it shares with its parent."""

from __future__ import annotations

import os


class ForkCounter:
    """Counts the forks of this process and its ancestors since this module was imported."""

    depth = 0
    """Number of forks between the process that imported this module and this one. Differs between parent and child."""
    count = 0
    """Number of forks by this process, and by its ancestors before it started. A change means memory may be shared."""


def _count_fork() -> None:
    ForkCounter.count += 1


def _count_fork_in_child() -> None:
    ForkCounter.depth += 1


os.register_at_fork(before=_count_fork, after_in_child=_count_fork_in_child)
