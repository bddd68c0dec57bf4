"""Count the forks of this process: a forked copy has none of its threads, and shares memory that must not be reused."""

from __future__ import annotations

import os


class Forks:
    """Number of forks that concern this process."""

    depth = 0
    """Forks between the process that imported this module and this one: differs in a forked copy of a process."""
    count = 0
    """Forks that led to this process, and forks that this process did."""


def _before() -> None:
    Forks.count += 1


def _after_in_child() -> None:
    Forks.depth += 1


os.register_at_fork(before=_before, after_in_child=_after_in_child)
