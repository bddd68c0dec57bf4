"""`recordmill export`: write the records of shards to files that other programs read."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from recordmill.cli.errors import FAULTS, OK
from recordmill.cli.options import (
    PAYLOADS,
    Commands,
    add_command,
    add_paths_argument,
    add_reading_options,
    get_reading_options,
    parse_byte_count,
)
from recordmill.cli.printer import Printer, escape_unprintable, format_bytes, format_count, print_note

_DESCRIPTION = """\
Write the records of shards to files that other programs read.

  folder      images in one folder per class or identity, or in one folder; labels.txt, labels.jsonl
  jsonl, csv  all features in one file; bytes that are not text in base64
  parquet     all features in one file (needs PyArrow)
  webdataset  tar files with the members KEY.jpg, KEY.cls and KEY.json

DEST is a folder for folder and webdataset, and a file for the others. It may be an address.
Examples:

  recordmill export packed/train photos --to folder
  recordmill export packed/train s3://bucket/train.csv --to csv"""
_FORMS = ("folder", "jsonl", "csv", "parquet", "webdataset")
_MAX_LISTED = 20


def add_parser(commands: Commands) -> argparse.ArgumentParser:
    """Add the subcommand `export` and its options to the command line."""
    parser = add_command(
        commands,
        "export",
        "write records to folders, JSON lines, CSV and others",
        _DESCRIPTION,
        example="recordmill export out/train photos --to folder",
    )
    add_paths_argument(parser)
    parser.add_argument("destination", metavar="DEST", help="new folder or file, or its address")
    parser.add_argument("--to", choices=_FORMS, required=True, help="form of the output")
    group = parser.add_argument_group("folder and webdataset")
    group.add_argument("--image-feature", metavar="NAME", help="feature of the image (default: image, …)")
    group.add_argument("--label-feature", metavar="NAME", help="feature of the label (default: label, …)")
    group.add_argument("--key-feature", metavar="NAME", help="feature of the file name (default: name, filename, …)")
    folders = group.add_mutually_exclusive_group()
    folders.add_argument(
        "--class-folders",
        action="store_true",
        default=None,
        help="folder: one folder per class (default: if there are class names)",
    )
    folders.add_argument(
        "--no-class-folders", dest="class_folders", action="store_false", help="folder: use one folder"
    )
    group.add_argument(
        "--max-shard-bytes",
        type=parse_byte_count,
        metavar="BYTES",
        help="webdataset: size at which a new tar file begins (default: 1GiB)",
    )
    group = parser.add_argument_group("output")
    group.add_argument(
        "--classes",
        metavar="A,B,C",
        help="class names, or a file such as labels.txt with one per line (default: those of the shards)",
    )
    group.add_argument("--overwrite", action="store_true", help="replace an existing file or folder")
    group.add_argument(
        "--on-error",
        choices=("stop", "skip"),
        default="stop",
        help="what to do if a record is damaged or cannot be written (default: stop)",
    )
    group.add_argument("--quiet", action="store_true", help="print no progress")
    add_reading_options(parser)
    parser.add_argument("--payload", choices=PAYLOADS, help="payload type (default: detected)")
    parser.add_argument("--allow-incomplete", action="store_true", help="read the rest of an incomplete dataset")
    return parser


def run(args: argparse.Namespace, printer: Printer) -> int:
    """Export the records; return 1 if records were skipped."""
    import recordmill as rm

    options = get_reading_options(args)
    dataset = rm.open(args.paths, payload=args.payload, allow_incomplete=args.allow_incomplete, **options)
    result = rm.export(
        dataset,
        args.destination,
        to=args.to,
        image_feature=args.image_feature,
        label_feature=args.label_feature,
        key_feature=args.key_feature,
        classes=parse_class_names(args.classes),
        class_folders=args.class_folders,
        max_shard_bytes=args.max_shard_bytes,
        on_error=args.on_error,
        progress=False if args.quiet else None,
        overwrite=args.overwrite,
    )
    plain = result.to_json()
    for text in (*_describe_renamed(plain), *_describe_skipped(plain)):
        print_note(escape_unprintable(text))
    printer.print_result(plain, _format_result(plain))
    return FAULTS if plain["num_skipped"] else OK


def parse_class_names(text: str | None) -> list[str] | None:
    """Return class names from a comma-separated text, or from a file with one name per line."""
    if text is None:
        return None
    if text.endswith(".txt") and "://" in text:
        raise ValueError(f"--classes must be names or a local file, got {text}")
    if text.endswith(".txt") and os.path.isfile(text):
        return [line.strip() for line in Path(text).read_text("utf-8-sig").splitlines() if line.strip()]
    return [name.strip() for name in text.split(",")]


def _describe_renamed(plain: dict[str, Any]) -> Iterator[str]:
    for entry in plain["renamed"][:_MAX_LISTED]:
        yield f"renamed {entry['key']!r} to {entry['name']}: {entry['reason']}"
    if plain["num_renamed"] > _MAX_LISTED:
        yield f"… and {plain['num_renamed'] - _MAX_LISTED:,} more (--json lists up to 10,000)"


def _describe_skipped(plain: dict[str, Any]) -> Iterator[str]:
    for entry in plain["skipped"][:_MAX_LISTED]:
        place = f"{entry['shard']}, record {entry['record']}" if entry["shard"] else f"sample {entry['position']}"
        yield f"skipped {place}: {entry['message']}"
    if plain["num_skipped"] > _MAX_LISTED:
        yield f"… and {plain['num_skipped'] - _MAX_LISTED:,} more (--json lists up to 10,000)"


def _format_result(plain: dict[str, Any]) -> Iterator[str]:
    skipped = f"; {format_count(plain['num_skipped'], 'record')} skipped" if plain["num_skipped"] else ""
    renamed = f"; {format_count(plain['num_renamed'], 'key')} renamed" if plain["num_renamed"] else ""
    yield (
        f"{format_count(plain['num_records'], 'record')} in {format_count(plain['num_files'], 'file')}, "
        f"{format_bytes(plain['num_bytes'])}{skipped}{renamed}"
    )
    yield plain["path"]
