"""`recordmill cat`: write payloads, or complete examples as JSON, to standard output."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from itertools import islice
from typing import Any

from recordmill.cli.errors import OK
from recordmill.cli.options import (
    PAYLOADS,
    Commands,
    add_command,
    add_paths_argument,
    add_reading_options,
    get_reading_options,
    parse_count,
    parse_positive_integer,
)
from recordmill.cli.printer import Printer
from recordmill.value_text import to_json_value

_DESCRIPTION = """\
Write the payloads of all records to standard output, one directly after another, without framing.
With --json, print one object per record, each on its own line, with all values: texts as they are,
other bytes in base64."""
_EXAMPLE = """\
recordmill cat --json -n 1 out/train
recordmill cat lines.rec > lines.txt"""


def add_parser(commands: Commands) -> argparse.ArgumentParser:
    """Add the subcommand `cat` and its options to the command line."""
    parser = add_command(commands, "cat", "write payloads, or complete records as JSON", _DESCRIPTION, _EXAMPLE)
    add_paths_argument(parser)
    parser.add_argument(
        "-n", "--num-records", type=parse_positive_integer, metavar="N", help="number of records (default: all)"
    )
    parser.add_argument("--skip", type=parse_count, default=0, metavar="N", help="skip the first records")
    parser.add_argument("--payload", choices=PAYLOADS, help="with --json: payload type (default: detected)")
    add_reading_options(parser)
    parser.add_argument("--allow-incomplete", action="store_true", help="read the rest of an incomplete dataset")
    return parser


def run(args: argparse.Namespace, printer: Printer) -> int:
    """Write the records."""
    if args.payload is not None and not args.json:
        raise ValueError("--payload requires --json")
    options = get_reading_options(args) | {"allow_incomplete": args.allow_incomplete}
    if args.json:
        for position, example in _read_examples(args, options):
            features = {name: to_json_value(value, full=True) for name, value in example.items()}
            printer.print_record({"record": position, "features": features}, ())
    else:
        _write_payloads(args, options)
    return OK


def _read_examples(args: argparse.Namespace, options: dict[str, Any]) -> Iterator[tuple[int, dict[str, Any]]]:
    import recordmill as rm

    dataset = rm.open(args.paths, payload=args.payload, **options).skip(args.skip)
    yield from enumerate(dataset if args.num_records is None else dataset.take(args.num_records), args.skip)


def _write_payloads(args: argparse.Namespace, options: dict[str, Any]) -> None:
    import recordmill as rm

    stop = None if args.num_records is None else args.skip + args.num_records
    for payload in islice(rm.iterate_payloads(args.paths, **options), args.skip, stop):
        sys.stdout.buffer.write(payload)
    sys.stdout.buffer.flush()
