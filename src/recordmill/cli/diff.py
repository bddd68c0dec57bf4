"""`recordmill diff`: compare the records and schemas of two datasets."""

from __future__ import annotations

import argparse

from recordmill.cli.errors import FAULTS, OK
from recordmill.cli.options import SHARD_HELP, Commands, add_command, add_limit_options, get_limit_options
from recordmill.cli.printer import Printer

_DESCRIPTION = """\
Compare two datasets by the hashes of their payloads, and their schemas. Order, shards, framing and
compression do not matter. The exit code is 1 if they differ. Memory is bounded; the hashes of more
than 262,144 records are kept in temporary files, 28 bytes per record."""


def add_parser(commands: Commands) -> argparse.ArgumentParser:
    """Add the subcommand `diff` and its options to the command line."""
    parser = add_command(commands, "diff", "compare two datasets", _DESCRIPTION, "recordmill diff out/train copy/train")
    for name in ("a", "b"):
        parser.add_argument(name, metavar=name.upper(), help=SHARD_HELP.partition(";")[0])
    parser.add_argument("--allow-incomplete", action="store_true", help="compare the rest of incomplete datasets")
    add_limit_options(parser)
    return parser


def run(args: argparse.Namespace, printer: Printer) -> int:
    """Print the differences; return 1 if there are any."""
    import recordmill as rm

    result = rm.diff(args.a, args.b, allow_incomplete=args.allow_incomplete, **get_limit_options(args))
    printer.print_result(result.to_json(), str(result).splitlines())
    return OK if result.equal else FAULTS
