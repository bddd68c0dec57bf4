"""Count forks, because a forked process has no worker threads and shares memory that must not be reused."""

from __future__ import annotations

import os


class Forks:
    """Counts the forks that led to this process and those that it did itself, since this module was imported."""

    depth = 0
    """Number of forks between the process that imported this module and this one. Differs between parent and child."""
    count = 0
    """Number of forks that led to this process, plus those that this process did itself."""


def _before() -> None:
    Forks.count += 1


def _after_in_child() -> None:
    Forks.depth += 1


os.register_at_fork(before=_before, after_in_child=_after_in_child)
