"""`recordmill verify`: list all faults of shards."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from recordmill.cli.errors import FAULTS, OK
from recordmill.cli.options import (
    PAYLOADS,
    Commands,
    add_command,
    add_paths_argument,
    add_reading_options,
    get_reading_options,
)
from recordmill.cli.printer import Printer, format_count

_DESCRIPTION = """\
Read shards completely and list every fault with shard, record and offset from the start of the
uncompressed shard. Also print which kinds of damage can be detected in the format. The exit code is
1 if there are faults."""


def add_parser(commands: Commands) -> argparse.ArgumentParser:
    """Add the subcommand `verify` and its options to the command line."""
    parser = add_command(commands, "verify", "find every fault", _DESCRIPTION, "recordmill verify --decode out")
    add_paths_argument(parser)
    parser.add_argument(
        "--payload",
        choices=("auto", *PAYLOADS, "none"),
        default="auto",
        help="also parse payloads as this type; none disables parsing (default: detected)",
    )
    parser.add_argument("--decode", action="store_true", help="also decode every image")
    add_reading_options(parser)
    return parser


def run(args: argparse.Namespace, printer: Printer) -> int:
    """Verify the shards; return 1 if there are faults."""
    import recordmill as rm

    payload = None if args.payload == "none" else args.payload
    report = rm.verify(args.paths, payload=payload, decode=args.decode, **get_reading_options(args))
    plain = report.to_json()
    printer.print_result(plain, _format_report(plain))
    return OK if report.ok else FAULTS


def _format_report(plain: dict[str, Any]) -> Iterator[str]:
    yield from map(_format_fault, plain["faults"])
    if len(plain["faults"]) < plain["num_faults"]:
        yield f"… and {plain['num_faults'] - len(plain['faults']):,} more"
    faults = format_count(plain["num_faults"], "fault") if plain["num_faults"] else "no faults"
    yield f"{format_count(plain['num_records'], 'intact record')}, {faults}"
    for name, sentences in plain["guarantees"].items():
        yield from (f"{name}: {sentence}" for sentence in sentences)


def _format_fault(fault: dict[str, Any]) -> str:
    location = [f"{name} {fault[name]}" for name in ("record", "offset") if fault[name] is not None]
    return ": ".join([", ".join([fault["shard"], *location]), fault["kind"], fault["message"]])
