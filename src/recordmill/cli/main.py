"""Entry point of the command `recordmill`.

Each module in `COMMANDS` defines ``add_parser(commands)``, which returns the parser of the subcommand, and
``run(args, printer)``, which returns the exit code.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from recordmill import __version__
from recordmill.cli import (
    cat,
    convert,
    count,
    demo,
    diff,
    export,
    head,
    index,
    info,
    pack,
    repair,
    salvage,
    show,
    split,
    verify,
    view,
)
from recordmill.cli.errors import run_command
from recordmill.cli.options import read_path_lists
from recordmill.cli.parser import Parser
from recordmill.cli.printer import Printer

COMMANDS = (
    pack,
    convert,
    split,
    export,
    info,
    count,
    head,
    show,
    view,
    cat,
    diff,
    index,
    verify,
    salvage,
    repair,
    demo,
)
_DESCRIPTION = """\
Write, read, index and verify TFRecord, OFRecord and MXNet RecordIO files without their frameworks.

Results are printed to standard output; progress, notes and errors to standard error."""
_EPILOG = """\
exit codes:
  0  success
  1  the command ran and found damaged data, skipped files or differences
  2  the command could not run
  128 + number of the signal  ended by Ctrl-C (130), SIGTERM (143) or SIGHUP (129)

All commands have --help and --json. Set RECORDMILL_TRACEBACK=1 to print the traceback of an error."""


def build_parser() -> argparse.ArgumentParser:
    """Build the argument parser of `recordmill` with all subcommands."""
    parser = Parser(
        prog="recordmill",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"recordmill {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for module in COMMANDS:
        command = module.add_parser(commands)
        command.add_argument("--json", action="store_true", help="print JSON")
        command.set_defaults(run=module.run, options=frozenset(command._option_string_actions), parser=command)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run a subcommand and return its exit code."""
    args, unknown = build_parser().parse_known_args(argv)
    if unknown:
        args.parser.error(f"unrecognized arguments: {' '.join(unknown)}")
    return run_command(lambda: _run(args), args.options)


def _run(args: argparse.Namespace) -> int:
    if hasattr(args, "paths"):
        args.paths = read_path_lists(args.paths)
    return int(args.run(args, Printer(as_json=args.json)))
