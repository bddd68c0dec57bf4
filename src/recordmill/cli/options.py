"""Options that several subcommands share, and parsers of option values."""

from __future__ import annotations

import argparse
import re
import sys
from textwrap import indent
from typing import Any

FORMATS = ("tfrecord", "ofrecord", "recordio")
PAYLOADS = ("example", "sequence_example", "ofrecord", "irheader", "raw")
SHARD_HELP = "a file, folder, prefix, or quoted glob pattern; - reads a list of them from standard input"
# The return type of `add_subparsers`, for which argparse has no public name.
Commands = Any
_FACTORS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}


def add_command(
    commands: Commands, name: str, summary: str, description: str, example: str = ""
) -> argparse.ArgumentParser:
    """Add the parser of a subcommand; each line of `example` is one command line."""
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=summary,
        description=description,
        epilog="example:\n" + indent(example, "  ") if example else None,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    return parser


def add_paths_argument(parser: argparse.ArgumentParser) -> None:
    """Add the argument for the shards that a command reads."""
    parser.add_argument("paths", nargs="+", metavar="SHARD", help=SHARD_HELP)


def read_path_lists(paths: list[str]) -> list[str]:
    """Replace each path ``-`` with the paths on standard input, one per line."""
    if "-" not in paths:
        return paths
    listed = [line for line in sys.stdin.read().splitlines() if line]
    if not listed:
        raise ValueError("expected one path per line on standard input (argument '-'), got no path")
    return [path for entry in paths for path in (listed if entry == "-" else [entry])]


def add_reading_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of commands that read shards: format, compression and size limits."""
    group = parser.add_argument_group(
        "reading", "By default, the format and the compression are detected from the content."
    )
    group.add_argument("--format", choices=FORMATS, help="format of the shards")
    group.add_argument(
        "--compression", choices=("auto", "gzip", "zlib", "none"), default="auto", help="compression of the shards"
    )
    add_limit_options(parser)


def get_reading_options(args: argparse.Namespace) -> dict[str, Any]:
    """Return the values of the options from `add_reading_options`, as keyword arguments for functions of recordmill."""
    compression = None if args.compression == "none" else args.compression
    return {"format": args.format, "compression": compression} | get_limit_options(args)


def add_limit_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that change the size limits of shards and records."""
    group = parser.add_argument_group("limits", "Shards and records beyond a limit are not read. Units: k, M, Gi, …")
    group.add_argument(
        "--max-decompressed-bytes",
        type=parse_byte_count,
        metavar="BYTES",
        help="size of a compressed shard after decompression (default: 64MiB or 250 times the file size)",
    )
    group.add_argument(
        "--max-record-bytes",
        type=parse_byte_count,
        default=2**30,
        metavar="BYTES",
        help="length of a record (default: 1GiB)",
    )


def get_limit_options(args: argparse.Namespace) -> dict[str, Any]:
    """Return the values of the options from `add_limit_options`, as keyword arguments for functions of recordmill."""
    return {"max_decompressed_bytes": args.max_decompressed_bytes, "max_record_bytes": args.max_record_bytes}


def add_no_index_option(group: Any) -> None:
    """Add the option to write shards without an index."""
    group.add_argument(
        "--no-index",
        dest="index",
        action="store_const",
        const="never",
        default="auto",
        help="write no index; the first read of the shards builds it",
    )


def add_break_lock_option(parser: Any) -> None:
    """Add the option to take over the lock of another writer."""
    parser.add_argument(
        "--break-lock",
        action="store_true",
        help="take over the lock of a process on another machine (only if this process no longer runs)",
    )


def parse_positive_integer(text: str) -> int:
    """Parse a positive integer."""
    value = int(text) if text.isdecimal() else 0
    if value < 1:
        raise argparse.ArgumentTypeError(f"must be a positive integer, got {text!r}")
    return value


def parse_count(text: str) -> int:
    """Parse an integer of at least 0."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"must be an integer of at least 0, got {text!r}")
    return int(text)


def parse_byte_count(text: str) -> int:
    """Parse a number of bytes with an optional unit."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?i?)b?\s*", text.lower())
    if match is None or match[2] == "i":
        raise argparse.ArgumentTypeError(f"must be a number of bytes such as 4096, 100MB or 64MiB, got {text!r}")
    value = int(float(match[1]) * _FACTORS[match[2]])
    if value < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1 byte, got {text!r}")
    return value
