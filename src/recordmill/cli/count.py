"""`recordmill count`: print the number of records."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from recordmill.cli.errors import FAULTS, OK
from recordmill.cli.options import (
    Commands,
    add_command,
    add_paths_argument,
    add_reading_options,
    get_reading_options,
)
from recordmill.cli.printer import Printer, escape_unprintable, format_table, print_note

_DESCRIPTION = """\
Print the number of records of each shard and of all shards, from their indexes. The exit code is 1
if a shard is damaged or the dataset is incomplete; then only the records that were found are counted."""


def add_parser(commands: Commands) -> argparse.ArgumentParser:
    """Add the subcommand `count` and its options to the command line."""
    parser = add_command(commands, "count", "print the number of records", _DESCRIPTION, "recordmill count out/train")
    add_paths_argument(parser)
    add_reading_options(parser)
    return parser


def run(args: argparse.Namespace, printer: Printer) -> int:
    """Print the counts; return 1 if a shard is damaged or the dataset is incomplete."""
    import recordmill as rm

    info = rm.info(args.paths, num_records=1, **get_reading_options(args))
    shards = {shard.path: shard.num_records for shard in info.shards}
    printer.print_result({"num_records": info.num_records, "shards": shards}, _format_counts(shards, info.num_records))
    problems = [f"damaged: {shard.path}" for shard in info.shards if shard.damage is not None]
    problems += [f"incomplete: {problem}" for problem in info.problems]
    for problem in problems:
        print_note(escape_unprintable(problem))
    return FAULTS if problems else OK


def _format_counts(shards: dict[str, int], total: int) -> Iterator[Any]:
    rows = [(f"{count:,}", path) for path, count in shards.items()]
    yield from format_table((f"{total:,}", "total"), rows)[1:] if len(rows) > 1 else ()
    yield f"{total:,}  total" if len(rows) != 1 else f"{total:,}  {rows[0][1]}"
