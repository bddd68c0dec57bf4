"""`recordmill info`: what is inside shards."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from recordmill.cli.errors import FAULTS, OK
from recordmill.cli.options import Commands, add_command, add_paths, add_reading, positive, reading
from recordmill.cli.printer import Printer, byte_count, counted, note, table, visible

_DESCRIPTION = """\
Show what is inside shards: format, compression, records, sizes, and the features that
the first records have: kind, shape, whether it varies, byte sizes, how often it is missing."""
# Shards that the text lists one by one.
_MANY = 20


def add_to(commands: Commands) -> argparse.ArgumentParser:
    """Add the command's parser."""
    parser = add_command(commands, "info", "show what is inside shards", _DESCRIPTION)
    add_paths(parser)
    parser.add_argument(
        "-n", "--num-records", type=positive, default=1000, metavar="N", help="records to look at (1000)"
    )
    add_reading(parser)
    return parser


def run(args: argparse.Namespace, printer: Printer) -> int:
    """Show what is inside the shards; 1 if one of them is damaged."""
    import recordmill as rm

    plain = rm.info(args.paths, num_records=args.num_records, **reading(args)).to_json()
    printer.result(plain, _lines(plain))
    damaged = [shard for shard in plain["shards"] if "damage" in shard]
    for shard in damaged:
        note(visible(f"damaged: {shard['path']}: {shard['damage'].partition(';')[0]}"))
    if damaged:
        note("hint: records in front of the damage are counted; `recordmill verify` tells every fault")
    return FAULTS if damaged else OK


def _lines(plain: dict[str, Any]) -> Iterator[str]:
    shards = plain["shards"]
    yield (
        f"{plain['format']}: {counted(plain['num_records'], 'record')} in {counted(len(shards), 'shard')}, "
        f"{byte_count(plain['num_bytes'])}"
    )
    yield ""
    if plain["payload"] is not None:
        yield f"payload {plain['payload']}; features of the first {counted(plain['num_sampled'], 'record')}:"
        yield from _indented(table(("name", "kind", "shape", "values", "bytes", "missing"), _feature_rows(plain)))
        yield ""
    rows = [
        (
            shard["path"],
            shard["format"],
            shard["compression"] or "-",
            f"{shard['num_records']:,}",
            byte_count(shard["num_bytes"]),
            "damaged" if "damage" in shard else "",
        )
        for shard in (shards if len(shards) <= _MANY else shards[: _MANY // 2])
    ]
    yield from _indented(table(("shard", "format", "compression", "records", "bytes", ""), rows))
    if len(rows) < len(shards):
        yield f"  … and {counted(len(shards) - len(rows), 'shard')} more (--json lists all)"


def _feature_rows(plain: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    for name, feature in plain["features"].items():
        yield (
            name,
            feature["kind"] + (", mixed" if feature["mixed_kinds"] else ""),
            _shape(feature["shape"]),
            span(feature["counts"]),
            "" if feature["num_bytes"] is None else span(feature["num_bytes"]),
            f"{feature['missing_rate']:.1%}" if feature["missing_rate"] else "never",
        )


def _shape(shape: list[int | None]) -> str:
    if not shape:
        return "one value"
    return ("varying " if None in shape else "fixed ") + "x".join("?" if size is None else str(size) for size in shape)


def span(limits: list[int]) -> str:
    """Least and most as one word."""
    least, most = limits
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"


def _indented(lines: list[str]) -> Iterator[str]:
    return (f"  {line}" for line in lines)
