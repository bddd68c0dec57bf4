"""`recordmill demo`: all steps from image files to a trained network."""

from __future__ import annotations

import argparse

from recordmill.cli.errors import FAULTS, OK
from recordmill.cli.options import Commands, add_command, parse_positive_integer
from recordmill.cli.printer import Printer, print_note

_DESCRIPTION = """\
Write real images to files, pack them in all three formats, verify and read the shards, train a small
network on each format, pack pairs of images and masks, and write an image and a report. This takes
about a minute and downloads nothing. Requires Keras, JAX, Pillow, and scikit-learn and scikit-image,
which contain the images."""


def add_parser(commands: Commands) -> argparse.ArgumentParser:
    """Add the subcommand `demo` and its options to the command line."""
    parser = add_command(
        commands, "demo", "run all steps on real images", _DESCRIPTION, "recordmill demo --output demo-out"
    )
    parser.add_argument("--output", default="demo-out", metavar="FOLDER", help="output folder (default: demo-out)")
    parser.add_argument("--overwrite", action="store_true", help="replace the output of an earlier demo")
    parser.add_argument(
        "--digits", type=parse_positive_integer, default=1797, metavar="N", help="number of digits (default: 1797)"
    )
    parser.add_argument(
        "--epochs", type=parse_positive_integer, default=5, metavar="N", help="number of training epochs (default: 5)"
    )
    parser.add_argument("--no-train", dest="train", action="store_false", help="skip the training")
    return parser


def run(args: argparse.Namespace, printer: Printer) -> int:
    """Run the demo; return 1 if a check failed."""
    from recordmill.demo.run import run_demo

    report = run_demo(
        args.output,
        num_digits=args.digits,
        epochs=args.epochs,
        train=args.train,
        overwrite=args.overwrite,
        print_line=print_note if printer.as_json else _print_line,
    )
    if printer.as_json:
        printer.print_result(report, ())
    return OK if report["ok"] else FAULTS


def _print_line(text: str) -> None:
    print(text, flush=True)
