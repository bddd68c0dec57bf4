"""`recordmill show`: draw the first images of shards on a contact sheet."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING

from recordmill.cli.errors import FAULTS, OK
from recordmill.cli.options import (
    PAYLOADS,
    Commands,
    add_command,
    add_paths_argument,
    add_reading_options,
    get_reading_options,
    parse_positive_integer,
)
from recordmill.cli.printer import Printer, escape_unprintable, format_count

if TYPE_CHECKING:
    from recordmill import ContactSheet

_DESCRIPTION = """\
Draw the images of the first records on one image, each above its label or class name. Damaged
records and images are replaced by a message, and the exit code is 1 then. Requires Pillow."""


def add_parser(commands: Commands) -> argparse.ArgumentParser:
    """Add the subcommand `show` and its options to the command line."""
    parser = add_command(
        commands,
        "show",
        "draw the first images on a contact sheet",
        _DESCRIPTION,
        "recordmill show out/train --out sheet.png -n 24 --shuffle",
    )
    add_paths_argument(parser)
    parser.add_argument(
        "--out",
        required=True,
        metavar="FILE",
        help="image to write, such as sheet.png or sheet.jpg; replaced if it exists",
    )
    parser.add_argument(
        "-n",
        "--num-records",
        type=parse_positive_integer,
        default=24,
        metavar="N",
        help="number of records, at most 1000 (default: 24)",
    )
    parser.add_argument(
        "--shuffle", type=int, nargs="?", const=0, metavar="SEED", help="draw records in random order (default seed: 0)"
    )
    parser.add_argument("--payload", choices=PAYLOADS, help="payload type (default: detected)")
    add_reading_options(parser)
    parser.add_argument("--allow-incomplete", action="store_true", help="read the rest of an incomplete dataset")
    return parser


def run(args: argparse.Namespace, printer: Printer) -> int:
    """Write the contact sheet; return 1 if an image cannot be drawn."""
    import recordmill as rm

    dataset = rm.open(
        args.paths, payload=args.payload, allow_incomplete=args.allow_incomplete, **get_reading_options(args)
    )
    if args.shuffle is not None:
        dataset = dataset.shuffle(seed=args.shuffle)
    sheet = dataset.show(args.num_records)
    sheet.save(args.out)
    plain = {"path": args.out, "num_images": len(sheet), "captions": sheet.captions, "errors": sheet.errors}
    printer.print_result(plain, _format_result(args.out, sheet))
    return FAULTS if sheet.errors else OK


def _format_result(path: str, sheet: ContactSheet) -> Iterator[str]:
    yield f"{path}: {format_count(len(sheet), 'image')}"
    yield from (f"not drawn: {escape_unprintable(error)}" for error in sheet.errors)
