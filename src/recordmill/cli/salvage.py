"""`recordmill salvage`: copy the intact records of damaged shards."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from recordmill.cli.errors import FAULTS, OK, arguments_to_options
from recordmill.cli.options import (
    FORMATS,
    PAYLOADS,
    Commands,
    add_break_lock_option,
    add_command,
    add_limit_options,
    add_no_index_option,
    add_paths_argument,
    get_limit_options,
)
from recordmill.cli.printer import Printer, format_bytes, format_count, summarize_paths

_DESCRIPTION = """\
Copy all intact records of damaged shards to new shards, and list the byte ranges that were lost. The
damaged shards are not changed. The exit code is 1 if anything was lost.

DEST is the prefix of the names of the new shards (out/train), a folder with a trailing slash (out/),
or the name of a single shard (train.rec)."""


def add_parser(commands: Commands) -> argparse.ArgumentParser:
    """Add the subcommand `salvage` and its options to the command line."""
    parser = add_command(
        commands,
        "salvage",
        "copy the intact records of damaged shards",
        _DESCRIPTION,
        "recordmill salvage damaged.tfrecord rescued/train",
    )
    add_paths_argument(parser)
    parser.add_argument("destination", metavar="DEST", help="prefix, folder or name of the new shards")
    parser.add_argument(
        "--payload",
        choices=("auto", *PAYLOADS, "none"),
        default="auto",
        help="type of the payloads; other payloads are lost; none disables parsing (default: detected)",
    )
    _add_output_options(parser)
    _add_reading_options(parser)
    add_limit_options(parser)
    return parser


def _add_output_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("output")
    group.add_argument(
        "--format", choices=FORMATS, help="format of the new shards (default: by the suffix of DEST, else unchanged)"
    )
    group.add_argument("--compression", choices=("gzip", "zlib"), help="compress the new shards (tfrecord only)")
    add_no_index_option(group)
    group.add_argument("--overwrite", action="store_true", help="replace existing shards")
    add_break_lock_option(group)


def _add_reading_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group(
        "reading", "By default, format and compression of the damaged shards are detected from their content."
    )
    group.add_argument("--source-format", choices=FORMATS, help="format of the damaged shards")
    group.add_argument(
        "--source-compression",
        choices=("auto", "gzip", "zlib", "none"),
        default="auto",
        help="compression of the damaged shards",
    )


def run(args: argparse.Namespace, printer: Printer) -> int:
    """Copy the intact records; return 1 if data were lost."""
    import recordmill as rm

    result = rm.salvage(
        args.paths,
        args.destination,
        format=args.format,
        compression=args.compression,
        source_format=args.source_format,
        source_compression=None if args.source_compression == "none" else args.source_compression,
        payload=None if args.payload == "none" else args.payload,
        overwrite=args.overwrite,
        break_lock=args.break_lock,
        index=args.index,
        **get_limit_options(args),
    )
    plain = result.to_json()
    printer.print_result(plain, (arguments_to_options(line, args.options) for line in _format_result(plain)))
    return OK if result.ok else FAULTS


def _format_result(plain: dict[str, Any]) -> Iterator[str]:
    yield from map(_format_lost_range, plain["lost"])
    num_hidden = plain["num_lost_ranges"] - len(plain["lost"])
    if num_hidden:
        yield f"… and {num_hidden:,} more ranges"
    copied = f"{format_count(plain['num_records'], 'record')} copied, {format_bytes(plain['num_bytes'])}"
    if plain["ok"]:
        yield f"{copied}; nothing was lost"
    else:
        about = "" if plain["is_exact"] else "about "
        records = format_count(plain["num_lost_records"], "record")
        yield f"{copied}; {about}{records} lost in {format_count(plain['num_lost_ranges'], 'range')}"
    if plain["paths"]:
        yield summarize_paths(plain["paths"])


def _format_lost_range(lost: dict[str, Any]) -> str:
    end = "the end" if lost["stop"] is None else str(lost["stop"])
    estimate = "" if lost["is_exact"] else "at least " if lost["stop"] is None else "about "
    records = estimate + format_count(lost["num_records"], "record")
    return f"{lost['shard']}, bytes {lost['start']} to {end}: {lost['kind']}: {lost['reason']}; {records} lost"
