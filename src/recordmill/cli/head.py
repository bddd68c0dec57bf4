"""`recordmill head`: the first records of shards, readably."""

from __future__ import annotations

import argparse
import contextlib
import os
import tempfile
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

from recordmill.cli.errors import OK
from recordmill.cli.options import PAYLOADS, Commands, add_command, add_paths, add_reading, positive, reading
from recordmill.cli.preview import kind_of, plain_value, words
from recordmill.cli.printer import Printer, note, table

if TYPE_CHECKING:
    from recordmill import Info

_DESCRIPTION = """\
Show the first records: kinds, shapes and short previews; images by type and size, which are read
from the first bytes. With --json, one object per record and line."""


def add_to(commands: Commands) -> argparse.ArgumentParser:
    """Add the command's parser."""
    parser = add_command(commands, "head", "show the first records", _DESCRIPTION)
    add_paths(parser)
    parser.add_argument("-n", "--num-records", type=positive, default=5, metavar="N", help="records to show (5)")
    parser.add_argument("--payload", choices=PAYLOADS, help="parse payloads as this type (what the first records are)")
    add_reading(parser)
    return parser


def run(args: argparse.Namespace, printer: Printer) -> int:
    """Show the first records."""
    for position, example in enumerate(_examples(args)):
        plain = {name: plain_value(value) for name, value in example.items()}
        printer.record({"record": position, "features": plain}, _lines(position, example, plain))
    return OK


def _examples(args: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Examples; of damaged shards those in front of the damage, then the error, however few are asked for."""
    import recordmill as rm

    try:
        dataset = rm.open(args.paths, payload=args.payload, **reading(args))
    except rm.DamageError as error:
        note("a shard is damaged: here are the records in front of the damage, as far as they are asked for")
        yield from _in_front(args)
        raise error from None
    yield from (dataset[position] for position in range(min(args.num_records, len(dataset))))


def _in_front(args: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Examples of the payloads that can be read, which are put into a whole shard for that."""
    import recordmill as rm

    found = rm.info(args.paths, **reading(args))
    payload, format_ = args.payload or found.payload, found.shards[0].format
    payloads = list(islice(_payloads(args, found), args.num_records))
    with tempfile.TemporaryDirectory() as folder:
        with rm.ShardWriter(os.path.join(folder, "whole"), format=format_, payload="raw") as writer:
            for data in payloads:
                writer.write(data)
        try:
            examples = list(rm.open(writer.paths, format=format_, payload=payload))
        except rm.RecordmillError:
            examples = [{"payload": data} for data in payloads]
    yield from examples


def _payloads(args: argparse.Namespace, found: Info) -> Iterator[bytes]:
    import recordmill as rm

    for shard in found.shards:
        with rm.ShardReader(shard.path, **reading(args)) as reader, contextlib.suppress(rm.DamageError):
            yield from reader


def _lines(position: int, example: dict[str, Any], plain: dict[str, Any]) -> Iterator[str]:
    rows = [(name, kind_of(value), *words(plain[name])) for name, value in example.items()]
    yield f"record {position}"
    if rows:
        yield from (f"  {line}" for line in table(("name", "kind", "shape", "value"), rows)[1:])
    else:
        yield "  no features"
