"""Entry point of the command `recordmill`: reads the arguments, runs one subcommand, returns its exit code."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from recordmill import __version__
from recordmill.cli import demo, head, index, info, pack, verify
from recordmill.cli.errors import guarded
from recordmill.cli.printer import Printer

COMMANDS = (pack, info, head, index, verify, demo)
_DESCRIPTION = """\
Write, read, index and check TFRecord, OFRecord and MXNet RecordIO files without their frameworks.

Data go to standard output; progress, notes and errors to standard error."""
_EPILOG = """\
exit codes:
  0  all is well
  1  the command ran and found faults
  2  the command could not run

Every command has --help and --json. RECORDMILL_TRACEBACK=1 shows where in the program an error came up."""


def build_parser() -> argparse.ArgumentParser:
    """Parser of all subcommands."""
    parser = argparse.ArgumentParser(
        prog="recordmill",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"recordmill {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for module in COMMANDS:
        command = module.add_to(commands)
        command.add_argument("--json", action="store_true", help="print JSON")
        command.set_defaults(run=module.run, options=frozenset(command._option_string_actions))
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command."""
    args = build_parser().parse_args(argv)
    return guarded(lambda: int(args.run(args, Printer(as_json=args.json))), args.options)
