"""`recordmill head`: the first records of shards, readably."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import islice
from typing import Any

from recordmill.cli.errors import OK
from recordmill.cli.options import PAYLOADS, Commands, add_command, add_paths, add_reading, positive, reading
from recordmill.cli.preview import kind_of, plain_value, words
from recordmill.cli.printer import Printer, note, table

_DESCRIPTION = """\
Show the first records: kinds, shapes and short previews; images by type and size, which are read
from the first bytes. With --json, one object per record and line."""


def add_to(commands: Commands) -> argparse.ArgumentParser:
    """Add the command's parser.

    Parameters
    ----------
    commands : the object that ``add_subparsers`` returned

    Returns
    -------
    argparse.ArgumentParser
    """
    parser = add_command(commands, "head", "show the first records", _DESCRIPTION)
    add_paths(parser)
    parser.add_argument("-n", "--num-records", type=positive, default=5, metavar="N", help="records to show (5)")
    parser.add_argument("--payload", choices=PAYLOADS, help="parse payloads as this type (what the first records are)")
    add_reading(parser)
    return parser


def run(args: argparse.Namespace, printer: Printer) -> int:
    """Show the first records.

    Parameters
    ----------
    args : argparse.Namespace
    printer : Printer

    Returns
    -------
    int
    """
    for position, example in enumerate(_examples(args)):
        plain = {name: plain_value(value) for name, value in example.items()}
        printer.record({"record": position, "features": plain}, _lines(position, example, plain))
    return OK


def _examples(args: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Examples; of a damaged shard the payloads in front of the damage, then the error."""
    import recordmill as rm

    try:
        dataset = rm.open(args.paths, payload=args.payload, **reading(args))
    except rm.DamageError:
        note("the index of a damaged shard cannot be made: here are the payloads in front of the damage")
        yield from _payloads(args)
        return
    yield from (dataset[position] for position in range(min(args.num_records, len(dataset))))


def _payloads(args: argparse.Namespace) -> Iterator[dict[str, Any]]:
    import recordmill as rm

    left = args.num_records
    for shard in rm.info(args.paths, **reading(args)).shards:
        with rm.ShardReader(shard.path, **reading(args)) as reader:
            for payload in islice(reader, left):
                left -= 1
                yield {"payload": payload}
        if left == 0:
            return


def _lines(position: int, example: dict[str, Any], plain: dict[str, Any]) -> Iterator[str]:
    rows = [(name, kind_of(value), *words(plain[name])) for name, value in example.items()]
    yield f"record {position}"
    if rows:
        yield from (f"  {line}" for line in table(("name", "kind", "shape", "value"), rows)[1:])
    else:
        yield "  no features"
