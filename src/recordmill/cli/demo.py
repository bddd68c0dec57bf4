"""`recordmill demo`: the whole way once, from image files to a trained network."""

from __future__ import annotations

import argparse

from recordmill.cli.errors import FAULTS, OK
from recordmill.cli.options import Commands, add_command, positive
from recordmill.cli.printer import Printer, note

_DESCRIPTION = """\
Write real images as files, pack them in all three formats, check and read them back, train a small
network on each, pack image and mask pairs, and leave a picture and a report. Takes about a minute
and downloads nothing. Needs scikit-learn and scikit-image (for their images), Pillow, Keras and JAX."""


def add_to(commands: Commands) -> argparse.ArgumentParser:
    """Add the command's parser."""
    parser = add_command(commands, "demo", "see it all work on real images", _DESCRIPTION)
    parser.add_argument("--output", default="demo-out", metavar="FOLDER", help="where everything goes (demo-out)")
    parser.add_argument("--overwrite", action="store_true", help="replace what an earlier demo left there")
    parser.add_argument("--digits", type=positive, default=1797, metavar="N", help="use the first N digits (1797)")
    parser.add_argument("--epochs", type=positive, default=5, metavar="N", help="passes over the digits (5)")
    parser.add_argument("--no-train", dest="train", action="store_false", help="leave the training out")
    return parser


def run(args: argparse.Namespace, printer: Printer) -> int:
    """Run the demo; 1 if something did not come out as it must."""
    from recordmill.demo.run import run_demo

    print_line = note if printer.as_json else _print_line
    report = run_demo(
        args.output,
        num_digits=args.digits,
        epochs=args.epochs,
        train=args.train,
        overwrite=args.overwrite,
        print_line=print_line,
    )
    if printer.as_json:
        printer.result(report, ())
    return OK if report["ok"] else FAULTS


def _print_line(text: str) -> None:
    print(text, flush=True)
