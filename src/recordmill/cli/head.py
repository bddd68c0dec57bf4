"""`recordmill head`: print the first records of shards."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from recordmill.cli.errors import OK
from recordmill.cli.options import (
    PAYLOADS,
    Commands,
    add_command,
    add_paths_argument,
    add_reading_options,
    get_reading_options,
    parse_positive_integer,
)
from recordmill.cli.preview import find_value_kind, format_value, to_json_value
from recordmill.cli.printer import Printer, format_table

if TYPE_CHECKING:
    pass

_DESCRIPTION = """\
Print the first records: kinds, shapes and shortened values of their features; the type and size of
images. With --json, print one object per record, each on its own line. A shortened value has the key
"truncated"; --full prints all values."""


def add_parser(commands: Commands) -> argparse.ArgumentParser:
    """Add the subcommand `head` and its options to the command line."""
    parser = add_command(commands, "head", "print the first records", _DESCRIPTION)
    add_paths_argument(parser)
    parser.add_argument(
        "-n",
        "--num-records",
        type=parse_positive_integer,
        default=5,
        metavar="N",
        help="number of records (default: 5)",
    )
    parser.add_argument("--payload", choices=PAYLOADS, help="payload type (default: detected)")
    parser.add_argument(
        "--full", action="store_true", help="with --json: print all values and texts, and other bytes in base64"
    )
    add_reading_options(parser)
    parser.add_argument("--allow-incomplete", action="store_true", help="read the rest of an incomplete dataset")
    return parser


def run(args: argparse.Namespace, printer: Printer) -> int:
    """Print the first records."""
    if args.full and not args.json:
        raise ValueError("--full requires --json")
    for position, example in enumerate(_read_examples(args)):
        plain = {name: to_json_value(value, full=args.full) for name, value in example.items()}
        printer.print_record({"record": position, "features": plain}, _format_record(position, example, plain))
    return OK


def _read_examples(args: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Yield the first examples; raise the error of a damaged record when it is reached."""
    import recordmill as rm

    options = get_reading_options(args)
    dataset = rm.open(args.paths, payload=args.payload, allow_incomplete=args.allow_incomplete, **options)
    yield from (dataset[position] for position in range(min(args.num_records, len(dataset))))


def _format_record(position: int, example: dict[str, Any], plain: dict[str, Any]) -> Iterator[str]:
    rows = [(name, find_value_kind(value), *format_value(plain[name])) for name, value in example.items()]
    yield f"record {position}"
    if rows:
        yield from (f"  {line}" for line in format_table(("name", "kind", "shape", "value"), rows)[1:])
    else:
        yield "  no features"
