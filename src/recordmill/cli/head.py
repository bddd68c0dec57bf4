"""`recordmill head`: print the first records of shards."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from recordmill.cli.errors import OK
from recordmill.cli.options import (
    PAYLOADS,
    Commands,
    add_command,
    add_paths_argument,
    add_reading_options,
    get_reading_options,
    parse_positive_integer,
)
from recordmill.cli.printer import Printer, format_table
from recordmill.value_text import LABEL_FEATURES, find_class_name, find_value_kind, format_value, to_json_value

if TYPE_CHECKING:
    from recordmill import Dataset

_DESCRIPTION = """\
Print the first records: kinds, shapes and shortened values of their features; the type and size of
images; the class name of the label, if the shards have class names. With --json, print one object
per record, each on its own line. A shortened value has the key "truncated"; --full prints all values."""


def add_parser(commands: Commands) -> argparse.ArgumentParser:
    """Add the subcommand `head` and its options to the command line."""
    parser = add_command(
        commands, "head", "print the first records", _DESCRIPTION, 'recordmill head -n 2 "out/train-*"'
    )
    add_paths_argument(parser)
    parser.add_argument(
        "-n",
        "--num-records",
        type=parse_positive_integer,
        default=5,
        metavar="N",
        help="number of records (default: 5)",
    )
    parser.add_argument("--payload", choices=PAYLOADS, help="payload type (default: detected)")
    parser.add_argument(
        "--full", action="store_true", help="with --json: print all values and texts, and other bytes in base64"
    )
    add_reading_options(parser)
    parser.add_argument("--allow-incomplete", action="store_true", help="read the rest of an incomplete dataset")
    return parser


def run(args: argparse.Namespace, printer: Printer) -> int:
    """Print the first records."""
    if args.full and not args.json:
        raise ValueError("--full requires --json")
    dataset = _open_dataset(args)
    for position, example in enumerate(_read_examples(dataset, args.num_records)):
        plain = {name: to_json_value(value, full=args.full) for name, value in example.items()}
        label, class_name = _find_class(example, dataset.classes)
        record = {"record": position, "features": plain} | ({} if label is None else {"class": class_name})
        printer.print_record(record, _format_record(position, example, plain, {label: class_name}))
    return OK


def _open_dataset(args: argparse.Namespace) -> Dataset:
    import recordmill as rm

    options = get_reading_options(args)
    return rm.open(args.paths, payload=args.payload, allow_incomplete=args.allow_incomplete, **options)


def _read_examples(dataset: Dataset, count: int) -> Iterator[dict[str, Any]]:
    """Yield the first examples; raise the error of a damaged record when the iteration reaches that record."""
    yield from (dataset[position] for position in range(min(count, len(dataset))))


def _find_class(example: dict[str, Any], classes: list[str] | None) -> tuple[str | None, str | None]:
    """Return the name of the label feature and the class name of the label; (None, None) if no class name is known."""
    for name in LABEL_FEATURES if classes else ():
        value = example.get(name)
        if getattr(value, "size", 0) == 1 and value.dtype.kind in "iuf":  # type: ignore[union-attr]
            class_name = find_class_name(float(value.reshape(-1)[0]), classes)  # type: ignore[union-attr]
            if class_name is not None:
                return name, class_name
    return None, None


def _format_record(
    position: int, example: dict[str, Any], plain: dict[str, Any], class_of: dict[str | None, str | None]
) -> Iterator[str]:
    rows = []
    for name, value in example.items():
        shape, text = format_value(plain[name])
        rows.append((name, find_value_kind(value), shape, f"{text} ({class_of[name]})" if name in class_of else text))
    yield f"record {position}"
    if rows:
        yield from (f"  {line}" for line in format_table(("name", "kind", "shape", "value"), rows)[1:])
    else:
        yield "  no features"
