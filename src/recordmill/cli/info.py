"""`recordmill info`: print the format, the number of records and the features of shards."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from recordmill.cli.errors import FAULTS, OK
from recordmill.cli.options import (
    Commands,
    add_command,
    add_paths_argument,
    add_reading_options,
    get_reading_options,
    parse_positive_integer,
)
from recordmill.cli.printer import Printer, escape_unprintable, format_bytes, format_count, format_table, print_note
from recordmill.cli.statistics import format_range, format_statistics

_DESCRIPTION = """\
Print the format, compression, number of records and size of shards, and the features of the first
records: kind, shape, number of values, size in bytes, and how often a feature is missing. With --stats,
also read all records, and print ranges of values, sizes of images, and the number of records per label."""
_MAX_LISTED = 20
_COMPLETENESS = {True: ", complete", False: ", not the whole dataset", None: ""}


def add_parser(commands: Commands) -> argparse.ArgumentParser:
    """Add the subcommand `info` and its options to the command line."""
    parser = add_command(commands, "info", "print format, size and features", _DESCRIPTION, "recordmill info out/train")
    add_paths_argument(parser)
    parser.add_argument(
        "-n",
        "--num-records",
        type=parse_positive_integer,
        default=1000,
        metavar="N",
        help="number of records whose features are read (default: 1000)",
    )
    parser.add_argument(
        "--stats", action="store_true", help="read all records, and print ranges and counts of values, and image sizes"
    )
    add_reading_options(parser)
    return parser


def run(args: argparse.Namespace, printer: Printer) -> int:
    """Print a summary of the shards; return 1 if a shard is damaged or the dataset is incomplete."""
    import recordmill as rm

    plain = rm.info(args.paths, num_records=args.num_records, stats=args.stats, **get_reading_options(args)).to_json()
    printer.print_result(plain, _format_info(plain))
    damaged = [shard for shard in plain["shards"] if "damage" in shard]
    for shard in damaged:
        print_note(escape_unprintable(f"damaged: {shard['path']}: {shard['damage'].partition(';')[0]}"))
    for problem in plain["problems"]:
        print_note(escape_unprintable(f"incomplete: {problem}"))
    if damaged:
        print_note("hint: damaged records are not counted; `recordmill verify` lists all faults")
    return FAULTS if damaged or plain["problems"] else OK


def _format_info(plain: dict[str, Any]) -> Iterator[str]:
    shards = plain["shards"]
    yield (
        f"{plain['format']}: {format_count(plain['num_records'], 'record')} in {format_count(len(shards), 'shard')}, "
        f"{format_bytes(plain['num_bytes'])}{_COMPLETENESS[plain['complete']]}"
    )
    if plain["classes"]:
        yield f"{len(plain['classes']):,} class names: {_format_class_names(plain['classes'])}"
    yield ""
    if plain["payload"] is not None:
        yield f"payload {plain['payload']}; features of the first {format_count(plain['num_sampled'], 'record')}:"
        yield from _indent(
            format_table(("name", "kind", "shape", "values", "bytes", "missing"), _create_feature_rows(plain))
        )
        yield ""
    if "statistics" in plain:
        yield from format_statistics(plain["statistics"], plain["classes"])
        yield ""
    rows = [
        (
            shard["path"],
            shard["format"],
            shard["compression"] or "-",
            f"{shard['num_records']:,}",
            format_bytes(shard["num_bytes"]),
            "damaged" if "damage" in shard else "",
        )
        for shard in (shards if len(shards) <= _MAX_LISTED else shards[: _MAX_LISTED // 2])
    ]
    yield from _indent(format_table(("shard", "format", "compression", "records", "bytes", ""), rows))
    if len(rows) < len(shards):
        yield f"  … and {format_count(len(shards) - len(rows), 'shard')} more (--json lists all)"


def _format_class_names(names: list[str]) -> str:
    listed = ", ".join(names[:_MAX_LISTED])
    return listed if len(names) <= _MAX_LISTED else f"{listed}, …"


def _create_feature_rows(plain: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    for name, feature in plain["features"].items():
        yield (
            name,
            feature["kind"] + (", mixed" if feature["mixed_kinds"] else ""),
            _format_shape(feature["shape"]),
            format_range(feature["counts"]),
            "" if feature["num_bytes"] is None else format_range(feature["num_bytes"]),
            f"{feature['missing_rate']:.1%}" if feature["missing_rate"] else "never",
        )


def _format_shape(shape: list[int | None]) -> str:
    if not shape:
        return "one value"
    return ("varying " if None in shape else "fixed ") + "x".join("?" if size is None else str(size) for size in shape)


def _indent(lines: list[str]) -> Iterator[str]:
    return (f"  {line}" for line in lines)
