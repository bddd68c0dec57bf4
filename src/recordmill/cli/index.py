"""`recordmill index`: build the index of shards and keep it beside them."""

from __future__ import annotations

import argparse

from recordmill.cli.errors import OK
from recordmill.cli.options import Commands, add_command, add_paths, add_reading, reading
from recordmill.cli.printer import Printer, note

_DESCRIPTION = """\
Find every record of shards and keep the table in a small hidden file beside each shard (in the
cache folder where that cannot be written to). Reading does this too when it first needs an index;
here you choose the moment, and formats without checksums get one for each record."""


def add_to(commands: Commands) -> argparse.ArgumentParser:
    """Add the command's parser."""
    parser = add_command(commands, "index", "build and keep the index of shards", _DESCRIPTION)
    add_paths(parser)
    parser.add_argument(
        "--foreign",
        "--idx",
        action="store_true",
        help="write the index file of the format's own tools too: .idx for RecordIO, .tfindex for TFRecord",
    )
    parser.add_argument(
        "--no-checksums",
        dest="checksums",
        action="store_false",
        help="keep no checksums of the payloads of formats that have none (faster: only headers are read)",
    )
    parser.add_argument(
        "--entry-points",
        action="store_true",
        help="keep entry points of JPEG images too, so that crops are decoded faster (reads everything)",
    )
    add_reading(parser)
    return parser


def run(args: argparse.Namespace, printer: Printer) -> int:
    """Build the indexes and print the files that were written."""
    import recordmill as rm

    options = {"checksums": args.checksums, "foreign": args.foreign, "entry_points": args.entry_points}
    written = rm.build_index(args.paths, **options, **reading(args))
    printer.result(written, written)
    if not written:
        note("no index could be kept: neither the folder nor the cache can be written to")
    return OK
