"""Shows results as text or as JSON on standard output, and notes on standard error."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from typing import Any

_UNITS = ("B", "kB", "MB", "GB", "TB", "PB")


class Printer:
    """Where the results of a command go.

    Parameters
    ----------
    as_json : bool
        Whether results are printed as JSON.
    """

    def __init__(self, *, as_json: bool) -> None:
        self.as_json = as_json

    def result(self, plain: Any, lines: Iterable[str]) -> None:
        """Print the one result of a command."""
        if self.as_json:
            print(json.dumps(plain, indent=2))
        else:
            _print_lines(lines)

    def record(self, plain: Any, lines: Iterable[str]) -> None:
        """Print one of several results: one JSON value per line, or the lines."""
        if self.as_json:
            print(json.dumps(plain))
        else:
            _print_lines(lines)


def _print_lines(lines: Iterable[str]) -> None:
    for line in lines:
        print(visible(line))


def note(text: str) -> None:
    """Print a line on standard error."""
    if sys.stderr is not None:  # print would take standard output instead
        print(text, file=sys.stderr, flush=True)


def visible(text: str) -> str:
    """Text that no terminal takes for a command: what cannot be printed is escaped."""
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape", "surrogatepass").decode("ascii") for char in text
    )


def byte_count(num_bytes: int) -> str:
    """Bytes in the unit that reads best, decimal."""
    value, unit = float(num_bytes), 0
    while value >= 999.95 and unit < len(_UNITS) - 1:
        value, unit = value / 1000, unit + 1
    return f"{num_bytes} B" if unit == 0 else f"{value:.1f} {_UNITS[unit]}"


def counted(number: int, noun: str) -> str:
    """Number and noun, in the plural where it belongs."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Align columns with blanks; columns whose entries begin with a digit are aligned to the right."""
    body = [[visible(cell) for cell in row] for row in rows]
    whole = [list(header), *body]
    widths = [max(map(len, column)) for column in zip(*whole, strict=True)]
    numeric = [bool(body) and all(row[place][:1].isdecimal() for row in body) for place in range(len(header))]
    return [
        "  ".join(
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(row, widths, numeric, strict=True)
        ).rstrip()
        for row in whole
    ]
