"""`recordmill verify`: every fault of shards, and what the formats could not show."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from recordmill.cli.errors import FAULTS, OK
from recordmill.cli.options import PAYLOADS, Commands, add_command, add_paths, add_reading, reading
from recordmill.cli.printer import Printer, counted

_DESCRIPTION = """\
Walk shards from the first to the last byte and list every fault with shard, record and offset
(from the start of the uncompressed shard). Says what the format made it possible to check.
Exits with 1 if there are faults."""


def add_to(commands: Commands) -> argparse.ArgumentParser:
    """Add the command's parser."""
    parser = add_command(commands, "verify", "find every fault", _DESCRIPTION)
    add_paths(parser)
    parser.add_argument(
        "--payload",
        choices=("auto", *PAYLOADS, "none"),
        default="auto",
        help="parse payloads as this type too; none leaves them unparsed (what the first records are)",
    )
    add_reading(parser)
    return parser


def run(args: argparse.Namespace, printer: Printer) -> int:
    """Check the shards; 1 if there are faults."""
    import recordmill as rm

    payload = None if args.payload == "none" else args.payload
    report = rm.verify(args.paths, payload=payload, **reading(args))
    plain = report.to_json()
    printer.result(plain, _lines(plain))
    return OK if report.ok else FAULTS


def _lines(plain: dict[str, Any]) -> Iterator[str]:
    yield from map(_fault, plain["faults"])
    if len(plain["faults"]) < plain["num_faults"]:
        yield f"… and {plain['num_faults'] - len(plain['faults']):,} more"
    faults = counted(plain["num_faults"], "fault") if plain["num_faults"] else "no faults"
    yield f"{counted(plain['num_records'], 'sound record')}, {faults}"
    for name, sentences in plain["guarantees"].items():
        yield from (f"{name}: {sentence}" for sentence in sentences)


def _fault(fault: dict[str, Any]) -> str:
    place = [f"{word} {fault[word]}" for word in ("record", "offset") if fault[word] is not None]
    return ": ".join([", ".join([fault["shard"], *place]), fault["kind"], fault["message"]])
