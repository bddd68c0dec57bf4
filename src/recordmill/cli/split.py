"""`recordmill split`: divide a dataset into parts, such as train and validation."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from recordmill.cli.convert import add_output_options, add_running_options, collect_output_options, print_skipped
from recordmill.cli.errors import FAULTS, OK
from recordmill.cli.options import SHARD_HELP, Commands, add_command, read_path_lists
from recordmill.cli.printer import Printer, format_bytes, format_count

_DESCRIPTION = """\
Divide the records of a dataset at random into parts. Every record is in exactly one part, and the same
seed results in the same parts. DEST is the folder of the new datasets, which are named after the parts."""


def add_parser(commands: Commands) -> argparse.ArgumentParser:
    """Add the subcommand `split` and its options to the command line."""
    parser = add_command(
        commands,
        "split",
        "divide a dataset into train, validation and test",
        _DESCRIPTION,
        example="recordmill split out/all out/parts train=0.9 val=0.1 --by label",
    )
    parser.add_argument("source", metavar="SOURCE", help=SHARD_HELP)
    parser.add_argument("destination", metavar="DEST", help="folder of the new datasets")
    parser.add_argument("parts", nargs="+", type=_parse_part, metavar="NAME=SHARE", help="parts, such as train=0.9")
    group = parser.add_argument_group("choice").add_mutually_exclusive_group()
    group.add_argument("--by", metavar="FEATURE", help="give each part the same share of each class")
    group.add_argument("--group", metavar="FEATURE", help="keep records with the same value in one part")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="seed of the random choice (default: 0)")
    add_output_options(parser)
    add_running_options(parser)
    return parser


def _parse_part(text: str) -> tuple[str, float]:
    name, sign, share = text.partition("=")
    try:
        value = float(share)
    except ValueError:
        value = 0
    if not (name and sign and value > 0):
        raise argparse.ArgumentTypeError(f"must be a name and a share such as train=0.9, got {text!r}")
    return name, value


def run(args: argparse.Namespace, printer: Printer) -> int:
    """Split the source; return 1 if records were skipped."""
    import recordmill as rm

    parts = dict(args.parts)
    if len(parts) < len(args.parts):
        names = ", ".join(name for name, _ in args.parts)
        raise ValueError(f"each part of the split must have a different name, got {names}")
    options = collect_output_options(args)
    result = rm.split(
        read_path_lists([args.source]), args.destination, parts, by=args.by, group=args.group, seed=args.seed, **options
    ).to_json()
    skipped = [record for part in result["parts"].values() for record in part["skipped"]]
    print_skipped(skipped)
    printer.print_result(result, _format_result(result))
    return FAULTS if skipped else OK


def _format_result(plain: dict[str, Any]) -> Iterator[str]:
    for name, part in plain["parts"].items():
        records = format_count(part["num_records"], "record")
        yield f"{name}: {records} in {format_count(len(part['paths']), 'shard')}, {format_bytes(part['num_bytes'])}"
        counts = plain["counts"].get(name, {})
        if counts:
            yield "  " + ", ".join(f"{value}: {count:,}" for value, count in counts.items())
        yield from (f"  {path}" for path in part["paths"])
