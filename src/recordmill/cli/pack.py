"""`recordmill pack`: write image files with labels or masks to shards."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from typing import Any

from recordmill.cli.errors import FAULTS, OK
from recordmill.cli.options import (
    FORMATS,
    PAYLOADS,
    Commands,
    add_break_lock_option,
    add_command,
    add_no_index_option,
    parse_byte_count,
    parse_positive_integer,
)
from recordmill.cli.printer import (
    Printer,
    escape_unprintable,
    format_bytes,
    format_count,
    print_note,
    summarize_paths,
)
from recordmill.cli.sources import KINDS, create_source

_DESCRIPTION = """\
Pack image files into shards.

SOURCE has one of these kinds. The kind is detected unless --source is given:
  folder   a folder with one folder of images per class
  labels   a file of JSON lines such as {"0001.png": 5}; --root is the folder of the images
  list     a .lst file of MXNet; --root is the folder of the images
  table    a .csv or .tsv file with columns for image and label
  pairs    images and masks in the layout of Pascal VOC (also: --pairs)
  -        standard input, with the path of an image on each line; images get no labels

DEST is the prefix of the shard names (out/train), a folder with a trailing slash (out/), or the name
of a single shard (train.rec). Files are stored unchanged unless --encode is given."""
_MAX_LISTED = 20


def add_parser(commands: Commands) -> argparse.ArgumentParser:
    """Add the subcommand `pack` and its options to the command line."""
    parser = add_command(
        commands, "pack", "pack image files into shards", _DESCRIPTION, "recordmill pack photos out/train --shards 4"
    )
    parser.add_argument("source", metavar="SOURCE", help="folder or file to pack, or - for a list of paths")
    parser.add_argument("destination", metavar="DEST", help="prefix, folder or name of the shards")
    _add_source_options(parser)
    _add_output_options(parser)
    _add_feature_options(parser)
    _add_image_options(parser)
    group = parser.add_argument_group("running")
    group.add_argument(
        "--workers", type=parse_positive_integer, default=1, metavar="N", help="number of workers (default: 1)"
    )
    group.add_argument(
        "--worker-kind",
        choices=("threads", "processes"),
        default="threads",
        help="kind of the workers (default: threads)",
    )
    group.add_argument(
        "--on-error",
        choices=("stop", "skip"),
        default="stop",
        help="what to do if an image cannot be used (default: stop)",
    )
    group.add_argument(
        "--resume",
        action="store_true",
        help="continue an interrupted run with the same source and options; if this run ends early, keep its shards",
    )
    add_break_lock_option(group)
    group.add_argument("--quiet", action="store_true", help="print no progress")
    return parser


def _add_source_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("source")
    group.add_argument("--source", dest="kind", choices=KINDS, help="kind of SOURCE (default: detected)")
    group.add_argument("--pairs", dest="kind", action="store_const", const="pairs", help="same as --source pairs")
    group.add_argument("--root", metavar="FOLDER", help="folder to which file names in SOURCE are relative")
    group.add_argument(
        "--allow-outside",
        action="store_true",
        help="allow file names and links that lead out of the folder of the images",
    )
    group.add_argument("--allow-duplicates", action="store_true", help="allow a file name to occur more than once")
    group.add_argument(
        "--classes",
        metavar="A,B,C",
        help="class names in the order of their label numbers, or a file such as labels.txt; auto for a table",
    )
    group.add_argument(
        "--no-labels",
        "--no-label",
        dest="labels",
        action="store_false",
        help="folder or table: pack images without labels",
    )
    group.add_argument(
        "--image",
        type=_parse_column_argument,
        metavar="COLUMN",
        help="table: column of file names, by header or number",
    )
    group.add_argument(
        "--label",
        type=_parse_column_argument,
        action="append",
        metavar="COLUMN",
        help="table: column of labels; repeat it for vectors",
    )
    group.add_argument(
        "--features",
        type=_parse_column_argument,
        action="append",
        metavar="COLUMN",
        help="table: column of another feature; can be repeated",
    )
    group.add_argument("--no-header", dest="header", action="store_false", help="table: the first line is not a header")
    group.add_argument("--split", metavar="NAME", help="pairs: read ImageSets/Segmentation/NAME.txt (default: train)")
    group.add_argument("--names", metavar="FILE", help="pairs: read the names from this file")
    group.add_argument(
        "--shuffle", type=int, nargs="?", const=0, metavar="SEED", help="shuffle the records (default seed: 0)"
    )


def _parse_column_argument(text: str) -> str | int:
    return int(text) if text.isdecimal() else text


def _add_output_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("output")
    group.add_argument(
        "--format", choices=FORMATS, help="format of the shards (default: by the suffix of DEST, else tfrecord)"
    )
    split = group.add_mutually_exclusive_group()
    split.add_argument("--shards", type=parse_positive_integer, metavar="N", help="number of shards (default: 1)")
    split.add_argument(
        "--max-shard-bytes",
        type=parse_byte_count,
        metavar="BYTES",
        help="maximum size of a shard, such as 100MB or 1GiB",
    )
    group.add_argument("--compression", choices=("gzip", "zlib"), help="compress whole shards (tfrecord only)")
    group.add_argument("--payload", choices=PAYLOADS, help="payload type (default: that of the format)")
    group.add_argument(
        "--entry-points",
        action="store_true",
        help="store entry points of JPEG images, which make decoding crops faster",
    )
    add_no_index_option(group)
    group.add_argument("--overwrite", action="store_true", help="replace existing shards")


def _add_feature_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("features")
    group.add_argument(
        "--image-feature", metavar="NAME", help="feature name of the image (default: image; ofrecord: images)"
    )
    group.add_argument(
        "--label-feature", metavar="NAME", help="feature name of the label (default: label; ofrecord: labels)"
    )
    group.add_argument(
        "--label-kind", choices=("int32", "int64", "float32", "vector"), help="kind of the labels (default: detected)"
    )
    group.add_argument(
        "--keep-name",
        nargs="?",
        const=True,
        default=False,
        metavar="NAME",
        help="also store the file name (default feature: name)",
    )
    group.add_argument("--keep-shape", action="store_true", help="also store height and width")


def _add_image_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("images", "All options except --mask and --check require --encode.")
    group.add_argument(
        "--encode", choices=("jpeg", "png", "tiff", "webp"), help="decode the images and encode them in this format"
    )
    group.add_argument(
        "--quality", type=parse_positive_integer, metavar="Q", help="quality of JPEG and WebP, 1 to 100 (default: 95)"
    )
    group.add_argument(
        "--resize", type=parse_positive_integer, metavar="PIXELS", help="resize the shorter side to this length"
    )
    group.add_argument(
        "--center-crop",
        type=parse_positive_integer,
        nargs="?",
        const=True,
        metavar="PIXELS",
        help="crop a square: to the shorter side before resizing, or to PIXELS after it",
    )
    color = group.add_mutually_exclusive_group()
    color.add_argument("--color", action="store_true", default=None, help="convert to RGB")
    color.add_argument("--gray", dest="color", action="store_false", help="convert to grayscale")
    group.add_argument("--exif", action="store_true", help="apply the EXIF orientation")
    group.add_argument(
        "--no-restart-markers",
        dest="restart_markers",
        action="store_false",
        default=None,
        help="jpeg: write no restart markers, which make decoding crops faster",
    )
    group.add_argument(
        "--mask", choices=("png", "raw"), default="png", help="store masks as PNG files or as raw arrays (default: png)"
    )
    group.add_argument(
        "--check",
        choices=("signature", "header", "decode", "none"),
        default="signature",
        help="how to check files that are stored unchanged (default: signature)",
    )


def run(args: argparse.Namespace, printer: Printer) -> int:
    """Pack the source; return 1 if files were skipped."""
    import recordmill as rm

    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *_args, **_options: print_note(escape_unprintable(f"warning: {message}"))
        result = rm.pack(create_source(args), args.destination, **_collect_pack_options(args))
    for path, cause in result.skipped[:_MAX_LISTED]:
        print_note(escape_unprintable(f"skipped {path}: {cause}"))
    if len(result.skipped) > _MAX_LISTED:
        print_note(f"… and {len(result.skipped) - _MAX_LISTED:,} more (--json lists all)")
    printer.print_result(result.to_json(), _format_result(result.to_json()))
    return FAULTS if result.skipped else OK


def _collect_pack_options(args: argparse.Namespace) -> dict[str, Any]:
    names = (
        "format shards max_shard_bytes compression payload overwrite image_feature label_feature label_kind "
        "keep_name keep_shape encode quality resize color exif mask check workers worker_kind on_error shuffle "
        "restart_markers entry_points index resume break_lock"
    )
    options = {name: getattr(args, name) for name in names.split()}
    options["center_crop"] = False if args.center_crop is None else args.center_crop
    options["progress"] = False if args.quiet else None
    return options


def _format_result(plain: dict[str, Any]) -> Iterator[str]:
    paths, skipped = plain["paths"], len(plain["skipped"])
    yield (
        f"{format_count(plain['num_records'], 'record')} in {format_count(len(paths), 'shard')}, "
        f"{format_bytes(plain['num_bytes'])}" + (f"; {format_count(skipped, 'file')} skipped" if skipped else "")
    )
    yield summarize_paths(paths)
