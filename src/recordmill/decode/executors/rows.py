"""Call a function for each row of a batch with threads, and collect the errors by row."""

from __future__ import annotations

from collections.abc import Callable

from recordmill.concurrency.threads import map_range
from recordmill.errors import MissingExtraError


def for_rows(function: Callable[[int], None], count: int, threads: int) -> dict[int, Exception]:
    """Call a function for 0 … `count` - 1 and return what it raised, by row in rising order."""
    parts = max(1, min(threads, count))

    def run_part(part: int) -> dict[int, Exception]:
        return _run(function, range(count * part // parts, count * (part + 1) // parts))

    errors: dict[int, Exception] = {}
    for found in map_range(run_part, parts, parts):
        errors |= found
    return errors


def _run(function: Callable[[int], None], rows: range) -> dict[int, Exception]:
    errors: dict[int, Exception] = {}
    for row in rows:
        try:
            function(row)
        except (MissingExtraError, MemoryError):
            raise
        except Exception as error:  # noqa: BLE001 (returned)
            errors[row] = error
    return errors
