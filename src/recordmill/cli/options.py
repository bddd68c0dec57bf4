"""Options that several subcommands share, and values as people write them."""

from __future__ import annotations

import argparse
import re
from typing import Any

FORMATS = ("tfrecord", "ofrecord", "recordio")
PAYLOADS = ("example", "sequence_example", "ofrecord", "irheader", "raw")
# What `commands.add_parser` belongs to; argparse has no public name for it.
Commands = Any
_FACTORS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}


def add_command(commands: Commands, name: str, summary: str, description: str) -> argparse.ArgumentParser:
    """Add a subcommand."""
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=summary,
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    return parser


def add_paths(parser: argparse.ArgumentParser) -> None:
    """Add the shards that a command reads."""
    parser.add_argument("paths", nargs="+", metavar="SHARD", help="a file, a folder, or a pattern in quotes")


def add_reading(parser: argparse.ArgumentParser) -> None:
    """Add what overrides the content of shards."""
    group = parser.add_argument_group("reading", "Format and compression are found from the content.")
    group.add_argument("--format", choices=FORMATS, help="read as this format")
    group.add_argument(
        "--compression", choices=("auto", "gzip", "zlib", "none"), default="auto", help="read as compressed so"
    )


def reading(args: argparse.Namespace) -> dict[str, Any]:
    """Arguments of the public functions for the options of `add_reading`."""
    return {"format": args.format, "compression": None if args.compression == "none" else args.compression}


def positive(text: str) -> int:
    """Read a whole number from 1 on."""
    value = int(text) if text.isdecimal() else 0
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1 on")
    return value


def byte_size(text: str) -> int:
    """Read a number of bytes."""
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?i?)b?\s*", text.lower())
    if found is None or found[2] == "i":
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of bytes such as 4096, 100MB or 64MiB")
    value = int(float(found[1]) * _FACTORS[found[2]])
    if value < 1:
        raise argparse.ArgumentTypeError("the number of bytes is at least 1")
    return value
