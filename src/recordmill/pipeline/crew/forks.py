"""Counts forks: a copy of this process has none of its threads, and shares memory that we might use again."""

from __future__ import annotations

import os


class Forks:
    """Forks that this process has to do with."""

    behind = 0
    """Forks that led from the process that imported us to this one."""
    seen = 0
    """Forks that led here, or that this process did."""


def _before() -> None:
    Forks.seen += 1


def _after_in_child() -> None:
    Forks.behind += 1


os.register_at_fork(before=_before, after_in_child=_after_in_child)
