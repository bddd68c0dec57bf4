"""`recordmill index`: build the indexes of shards and store them in sidecar files."""

from __future__ import annotations

import argparse

from recordmill.cli.errors import OK
from recordmill.cli.options import (
    Commands,
    add_command,
    add_paths_argument,
    add_reading_options,
    get_reading_options,
)
from recordmill.cli.printer import Printer, print_note

_DESCRIPTION = """\
Find all records of shards and store their offsets in a small hidden file beside each shard, or in the
cache folder if the folder of the shard is read-only. The first read of a shard also does this. This
command additionally stores a checksum per record for formats without checksums."""


def add_parser(commands: Commands) -> argparse.ArgumentParser:
    """Add the subcommand `index` and its options to the command line."""
    parser = add_command(commands, "index", "build the indexes of shards", _DESCRIPTION, "recordmill index out")
    add_paths_argument(parser)
    parser.add_argument(
        "--foreign",
        "--idx",
        action="store_true",
        help="also write the index file of the format's own tools: .idx for RecordIO, .tfindex for TFRecord",
    )
    parser.add_argument(
        "--no-checksums",
        dest="checksums",
        action="store_false",
        help="store no checksums for formats without checksums (faster, because only headers are read)",
    )
    parser.add_argument(
        "--entry-points",
        action="store_true",
        help="also store entry points of JPEG images, which make decoding crops faster (reads all data)",
    )
    add_reading_options(parser)
    return parser


def run(args: argparse.Namespace, printer: Printer) -> int:
    """Build the indexes and print the paths of the written files."""
    import recordmill as rm

    options = {"checksums": args.checksums, "foreign": args.foreign, "entry_points": args.entry_points}
    written = rm.build_index(args.paths, **options, **get_reading_options(args))
    printer.print_result(written, written)
    if not written:
        print_note("no index was stored: neither the folder of the shards nor the cache folder is writable")
    return OK
