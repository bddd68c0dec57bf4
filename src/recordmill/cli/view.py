"""`recordmill view`: show shards in the browser."""

from __future__ import annotations

import argparse
import sys

from recordmill.cli.errors import OK
from recordmill.cli.options import (
    PAYLOADS,
    Commands,
    add_command,
    add_paths_argument,
    add_reading_options,
    get_reading_options,
)
from recordmill.cli.printer import Printer

_DESCRIPTION = """\
Show shards in the browser: a grid of all records, each record in full, and an overview. The address
of the page is printed; it works on this machine only. Ctrl-C ends the command."""


def add_parser(commands: Commands) -> argparse.ArgumentParser:
    """Add the subcommand `view` and its options to the command line."""
    parser = add_command(commands, "view", "show shards in the browser", _DESCRIPTION, "recordmill view out/train")
    add_paths_argument(parser)
    parser.add_argument("--port", type=int, default=0, help="port of the server (default: a free one)")
    parser.add_argument("--no-browser", action="store_true", help="only print the address")
    parser.add_argument("--payload", choices=PAYLOADS, help="payload type (default: detected)")
    add_reading_options(parser)
    parser.add_argument("--allow-incomplete", action="store_true", help="show the rest of an incomplete dataset")
    return parser


def run(args: argparse.Namespace, printer: Printer) -> int:
    """Start a web server that shows the shards; stop it on Ctrl-C."""
    import recordmill as rm

    options = get_reading_options(args)
    dataset = rm.open(args.paths, payload=args.payload, allow_incomplete=args.allow_incomplete, **options)
    with rm.view(dataset, port=args.port, browser=not args.no_browser) as viewer:
        printer.print_record({"url": viewer.url}, [viewer.url])
        sys.stdout.flush()
        try:
            viewer.wait()
        except KeyboardInterrupt:
            return OK
    return OK
