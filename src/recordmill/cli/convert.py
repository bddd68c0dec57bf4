"""`recordmill convert`: write the records of shards to new shards of any format."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from recordmill.cli.errors import FAULTS, OK
from recordmill.cli.options import (
    FORMATS,
    PAYLOADS,
    SHARD_HELP,
    Commands,
    add_break_lock_option,
    add_command,
    parse_byte_count,
    parse_positive_integer,
)
from recordmill.cli.printer import Printer, escape_unprintable, format_bytes, format_count, print_note

_DESCRIPTION = """\
Convert shards to another format, payload type, compression or number of shards. Several sources become
one dataset. Options take effect in the order in which they are listed below. A payload that does not
change is copied without parsing it.

DEST is the prefix of the shard names (out/train), a folder with a trailing slash (out/), or the name
of a single shard (train.rec)."""
_MAX_LISTED = 20


def add_parser(commands: Commands) -> argparse.ArgumentParser:
    """Add the subcommand `convert` and its options to the command line."""
    parser = add_command(
        commands,
        "convert",
        "write shards to another format, or select records",
        _DESCRIPTION,
        example='recordmill convert out/train out/labels-3 --where "label == 3" --format recordio',
    )
    parser.add_argument("paths", nargs="+", metavar="SOURCE", help=SHARD_HELP)
    parser.add_argument("destination", metavar="DEST", help="prefix, folder or name of the new shards")
    _add_selection_options(parser)
    _add_feature_options(parser)
    add_output_options(parser)
    add_running_options(parser)
    parser.add_argument("--resume", action="store_true", help="continue an interrupted run with the same options")
    return parser


def _add_selection_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("records")
    group.add_argument("--where", metavar="CONDITION", help="keep records that meet a condition, such as 'label == 3'")
    group.add_argument("--sample", type=float, metavar="FRACTION", help="keep each record with this probability")
    group.add_argument("--skip", type=int, default=0, metavar="N", help="drop the first N records")
    group.add_argument("--take", type=int, metavar="N", help="keep at most N records")
    group.add_argument(
        "--shuffle", type=int, nargs="?", const=0, metavar="SEED", help="shuffle the records (default seed: 0)"
    )


def _add_feature_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("features")
    group.add_argument("--select", type=_parse_names, metavar="A,B", help="keep only these features")
    group.add_argument("--drop", type=_parse_names, default=(), metavar="A,B", help="remove these features")
    group.add_argument("--rename", type=_parse_pairs, metavar="OLD=NEW,...", help="rename features")
    group.add_argument("--cast", type=_parse_pairs, metavar="NAME=KIND,...", help="change the kind of numbers")
    group.add_argument(
        "--encode", choices=("jpeg", "png", "tiff", "webp"), help="decode the images and encode them in this format"
    )
    group.add_argument(
        "--quality", type=parse_positive_integer, metavar="Q", help="quality of JPEG and WebP, 1 to 100 (default: 95)"
    )
    group.add_argument(
        "--resize", type=parse_positive_integer, metavar="PIXELS", help="resize the shorter side to this length"
    )
    group.add_argument(
        "--image-feature", metavar="NAME", help="image to encode (default: image, or the only feature of bytes)"
    )


def add_output_options(parser: argparse.ArgumentParser) -> None:
    """Add the options for the new shards."""
    group = parser.add_argument_group("output")
    group.add_argument(
        "--format", choices=FORMATS, help="format of the new shards (default: by the suffix of DEST, else unchanged)"
    )
    group.add_argument(
        "--payload",
        choices=PAYLOADS,
        help="payload type (default: unchanged if the format is, else that of the format)",
    )
    group.add_argument("--compression", choices=("gzip", "zlib"), help="compress whole shards (tfrecord only)")
    split = group.add_mutually_exclusive_group()
    split.add_argument("--shards", type=parse_positive_integer, metavar="N", help="number of shards (default: 1)")
    split.add_argument(
        "--max-shard-bytes", type=parse_byte_count, metavar="BYTES", help="maximum size of a shard, such as 100MB"
    )
    group.add_argument(
        "--no-index",
        dest="index",
        action="store_const",
        const="never",
        default="auto",
        help="write no index; the first read of the shards builds it",
    )
    group.add_argument("--overwrite", action="store_true", help="replace existing shards")


def add_running_options(parser: argparse.ArgumentParser) -> None:
    """Add the options for workers, errors and progress."""
    group = parser.add_argument_group("running")
    group.add_argument(
        "--workers", type=parse_positive_integer, default=1, metavar="N", help="number of workers (default: 1)"
    )
    group.add_argument(
        "--on-error",
        choices=("stop", "skip"),
        default="stop",
        help="what to do if a record cannot be read or converted (default: stop)",
    )
    add_break_lock_option(group)
    group.add_argument("--quiet", action="store_true", help="print no progress")


def _parse_names(text: str) -> list[str]:
    return [name for name in text.split(",") if name]


def _parse_pairs(text: str) -> dict[str, str]:
    pairs = [pair.partition("=") for pair in text.split(",") if pair]
    for old, sign, new in pairs:
        if not (old and sign and new):
            raise argparse.ArgumentTypeError(f"must be pairs such as a=b,c=d, got {text!r}")
    return {old: new for old, _, new in pairs}


def run(args: argparse.Namespace, printer: Printer) -> int:
    """Convert the sources; return 1 if records were skipped."""
    import recordmill as rm

    names = "where sample skip take shuffle select drop rename cast encode quality resize image_feature resume"
    options = {name: getattr(args, name) for name in names.split()}
    result = rm.convert(args.paths, args.destination, **options, **collect_output_options(args))
    print_skipped(result.to_json()["skipped"])
    printer.print_result(result.to_json(), format_result(result.to_json()))
    return FAULTS if result.skipped else OK


def collect_output_options(args: argparse.Namespace) -> dict[str, Any]:
    """Return the options for output, workers, errors and progress as keyword arguments."""
    names = "format payload compression shards max_shard_bytes index overwrite workers on_error break_lock"
    options = {name: getattr(args, name) for name in names.split()}
    options["progress"] = False if args.quiet else None
    return options


def print_skipped(skipped: list[dict[str, Any]]) -> None:
    """Print a note for each of the first few skipped records."""
    for record in skipped[:_MAX_LISTED]:
        print_note(escape_unprintable(f"skipped record {record['record']} of {record['shard']}: {record['cause']}"))
    if len(skipped) > _MAX_LISTED:
        print_note(f"… and {len(skipped) - _MAX_LISTED:,} more (--json lists all)")


def format_result(plain: dict[str, Any]) -> Iterator[str]:
    """Yield lines that describe a result: the counts first, then the paths."""
    paths, skipped = plain["paths"], len(plain["skipped"])
    yield (
        f"{format_count(plain['num_records'], 'record')} in {format_count(len(paths), 'shard')}, "
        f"{format_bytes(plain['num_bytes'])}" + (f"; {format_count(skipped, 'record')} skipped" if skipped else "")
    )
    yield from paths
