"""`recordmill repair`: complete or undo the work of an interrupted writer."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from recordmill.cli.errors import OK
from recordmill.cli.options import Commands, add_break_lock_option, add_command
from recordmill.cli.printer import Printer

_DESCRIPTION = """\
Complete or undo the work of a writer that was interrupted while it gave its shards their final names.
DEST is the destination of the writer (out/train), or a folder of datasets. Damaged shards are not
changed; `recordmill salvage` copies their intact records."""


def add_parser(commands: Commands) -> argparse.ArgumentParser:
    """Add the subcommand `repair` and its options to the command line."""
    parser = add_command(
        commands, "repair", "finish the work of an interrupted writer", _DESCRIPTION, "recordmill repair out/train"
    )
    parser.add_argument("destination", metavar="DEST", help="destination of the writer, or a folder")
    add_break_lock_option(parser)
    return parser


def run(args: argparse.Namespace, printer: Printer) -> int:
    """Repair the datasets, and print what was done."""
    import recordmill as rm

    plain = rm.repair(args.destination, break_lock=args.break_lock).to_json()
    printer.print_result(plain, _format_result(plain))
    return OK


def _format_result(plain: dict[str, Any]) -> Iterator[str]:
    for prefix in plain["completed"]:
        yield f"completed {prefix}: all new shards have their final names"
    for prefix in plain["undone"]:
        yield f"undone {prefix}: the new shards were removed"
    if not plain["completed"] and not plain["undone"]:
        yield "nothing to repair: no writer was interrupted while it renamed its shards"
