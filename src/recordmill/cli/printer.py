"""Output of results as text or JSON on standard output, and of notes on standard error."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Iterable, Sequence
from typing import Any

_DIGITS = "0123456789"
_UNITS = ("B", "kB", "MB", "GB", "TB", "PB")


class Printer:
    """Prints the results of a command: as JSON if `as_json` is True, else as text."""

    def __init__(self, *, as_json: bool) -> None:
        self.as_json = as_json

    def print_result(self, plain: Any, lines: Iterable[str]) -> None:
        """Print the result of a command that has a single result."""
        if self.as_json:
            print(json.dumps(plain, indent=2))
        else:
            _print_lines(lines)

    def print_record(self, plain: Any, lines: Iterable[str]) -> None:
        """Print a result while the command still runs: JSON on a single line, or the text `lines`."""
        if self.as_json:
            print(json.dumps(plain))
        else:
            _print_lines(lines)


def _print_lines(lines: Iterable[str]) -> None:
    for line in lines:
        print(escape_unprintable(line))


def print_note(text: str) -> None:
    """Print a line on standard error."""
    # If standard error is closed at startup, `sys.stderr` is None, and `print(file=None)` would use standard output.
    if sys.stderr is not None:
        # If the terminal is closed while the command runs (SIGHUP), printing raises OSError.
        with contextlib.suppress(OSError):
            print(text, file=sys.stderr, flush=True)


def escape_unprintable(text: str) -> str:
    """Escape unprintable characters, which could control the terminal."""
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape", "surrogatepass").decode("ascii") for char in text
    )


def format_bytes(num_bytes: int) -> str:
    """Format a number of bytes with a decimal unit."""
    value, unit = float(num_bytes), 0
    while value >= 999.95 and unit < len(_UNITS) - 1:
        value, unit = value / 1000, unit + 1
    return f"{num_bytes} B" if unit == 0 else f"{value:.1f} {_UNITS[unit]}"


def format_count(number: int, noun: str) -> str:
    """Format a number and a noun, such as "2 shards"; the noun is plural unless the number is 1."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def summarize_paths(paths: Sequence[str]) -> str:
    """Return a glob pattern that matches the shard paths of one dataset; for a single shard, return the path."""
    if len(paths) == 1:
        return paths[0]
    start = os.path.commonprefix(paths)  # noqa: RUF071 (characters, not folders)
    end = os.path.commonprefix([path[len(start) :][::-1] for path in paths])[::-1]  # noqa: RUF071 (characters, not folders)
    return f"{start.rstrip(_DIGITS)}*{end.lstrip(_DIGITS)}"


def format_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the header and rows as aligned lines; a column whose cells all start with a digit is right-aligned."""
    body = [[escape_unprintable(cell) for cell in row] for row in rows]
    lines = [list(header), *body]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    numeric = [bool(body) and all(row[column][:1].isdecimal() for row in body) for column in range(len(header))]
    return [
        "  ".join(
            cell.rjust(width) if is_numeric else cell.ljust(width)
            for cell, width, is_numeric in zip(row, widths, numeric, strict=True)
        ).rstrip()
        for row in lines
    ]
