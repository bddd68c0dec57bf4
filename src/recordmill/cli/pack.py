"""`recordmill pack`: image files with labels or masks become shards."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from recordmill.cli.errors import FAULTS, OK
from recordmill.cli.options import FORMATS, PAYLOADS, Commands, add_command, byte_size, positive
from recordmill.cli.printer import Printer, byte_count, counted, note, visible
from recordmill.cli.sources import KINDS, make_source

_DESCRIPTION = """\
Pack image files into shards.

SOURCE is one of these; which one is seen from what is there, or said with --source:
  folder   a folder of class folders: the folder is the label
  labels   a file of JSON lines, {"0001.png": 5}; --root is the folder of the images
  list     MXNet's .lst; --root is the folder of the images
  table    a .csv or .tsv with columns for image and label
  pairs    images and masks in the layout of Pascal VOC (also: --pairs)

DEST is the beginning of the shards' names (out/train), a folder with a slash at its end (out/), or
the name of the one shard (train.rec). File bytes are stored as they are unless --encode is given."""
# Files that the text lists one by one.
_MANY = 20


def add_to(commands: Commands) -> argparse.ArgumentParser:
    """Add the command's parser."""
    parser = add_command(commands, "pack", "pack image files into shards", _DESCRIPTION)
    parser.add_argument("source", metavar="SOURCE", help="what to pack")
    parser.add_argument("destination", metavar="DEST", help="where the shards go")
    _add_source(parser)
    _add_output(parser)
    _add_features(parser)
    _add_images(parser)
    group = parser.add_argument_group("running")
    group.add_argument("--workers", type=positive, default=1, metavar="N", help="threads or processes (1)")
    group.add_argument("--worker-kind", choices=("threads", "processes"), default="threads", help="which (threads)")
    group.add_argument(
        "--on-error", choices=("stop", "skip"), default="stop", help="when an image cannot be used (stop)"
    )
    group.add_argument("--quiet", action="store_true", help="show no progress")
    return parser


def _add_source(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("source")
    group.add_argument("--source", dest="kind", choices=KINDS, help="what SOURCE is")
    group.add_argument("--pairs", dest="kind", action="store_const", const="pairs", help="the same as --source pairs")
    group.add_argument("--root", metavar="FOLDER", help="folder that file names in SOURCE are relative to")
    group.add_argument("--allow-outside", action="store_true", help="file names may lead out of that folder")
    group.add_argument("--allow-duplicates", action="store_true", help="a file may be named more than once")
    group.add_argument("--classes", metavar="A,B,C", help="class names in the order of their numbers; auto for a table")
    group.add_argument(
        "--no-labels", "--no-label", dest="labels", action="store_false", help="of a folder or table: images alone"
    )
    group.add_argument("--image", type=_column, metavar="COLUMN", help="of a table: header or position of file names")
    group.add_argument(
        "--label", type=_column, action="append", metavar="COLUMN", help="of a table: labels; again for a vector"
    )
    group.add_argument(
        "--features", type=_column, action="append", metavar="COLUMN", help="of a table: a further feature; repeatable"
    )
    group.add_argument("--no-header", dest="header", action="store_false", help="of a table: it has no line of names")
    group.add_argument("--split", metavar="NAME", help="of pairs: ImageSets/Segmentation/NAME.txt (train)")
    group.add_argument("--names", metavar="FILE", help="of pairs: a list of names elsewhere")
    group.add_argument("--shuffle", type=int, nargs="?", const=0, metavar="SEED", help="mix the records (seed 0)")


def _column(text: str) -> str | int:
    return int(text) if text.isdecimal() else text


def _add_output(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("output")
    group.add_argument("--format", choices=FORMATS, help="format of the shards (what DEST ends like, or tfrecord)")
    split = group.add_mutually_exclusive_group()
    split.add_argument("--shards", type=positive, metavar="N", help="number of shards (1)")
    split.add_argument("--max-shard-bytes", type=byte_size, metavar="BYTES", help="begin a new shard at 100MB, 1GiB, …")
    group.add_argument("--compression", choices=("gzip", "zlib"), help="compress whole shards (tfrecord only)")
    group.add_argument("--payload", choices=PAYLOADS, help="type of the payloads (what is usual in the format)")
    group.add_argument(
        "--entry-points",
        action="store_true",
        help="keep entry points of JPEG images, by which crops are decoded faster",
    )
    group.add_argument(
        "--no-index",
        dest="index",
        action="store_const",
        const="never",
        default="auto",
        help="put no index beside the shards: the first to open them makes it",
    )
    group.add_argument("--overwrite", action="store_true", help="replace shards of these names")


def _add_features(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("features")
    group.add_argument("--image-feature", metavar="NAME", help="name of the image (image; images in ofrecord)")
    group.add_argument("--label-feature", metavar="NAME", help="name of the label (label; labels in ofrecord)")
    group.add_argument(
        "--label-kind", choices=("int32", "int64", "float32", "vector"), help="kind of the labels (what they are)"
    )
    group.add_argument(
        "--keep-name", nargs="?", const=True, default=False, metavar="NAME", help="store the file name too (name)"
    )
    group.add_argument("--keep-shape", action="store_true", help="store height and width too")


def _add_images(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("images", "These need --encode, but for --mask and --check.")
    group.add_argument("--encode", choices=("jpeg", "png", "tiff", "webp"), help="decode, and encode anew as this")
    group.add_argument("--quality", type=positive, metavar="Q", help="1 to 100, of JPEG and WebP (95)")
    group.add_argument("--resize", type=positive, metavar="PIXELS", help="length of the shorter side")
    group.add_argument(
        "--center-crop",
        type=positive,
        nargs="?",
        const=True,
        metavar="PIXELS",
        help="cut a square: the shorter side before resizing, or so many pixels after it",
    )
    color = group.add_mutually_exclusive_group()
    color.add_argument("--color", action="store_true", default=None, help="store RGB")
    color.add_argument("--gray", dest="color", action="store_false", help="store gray")
    group.add_argument("--exif", action="store_true", help="carry out the rotation that EXIF asks for")
    group.add_argument(
        "--no-restart-markers",
        dest="restart_markers",
        action="store_false",
        default=None,
        help="of jpeg: none at each row of blocks, by which crops are decoded faster",
    )
    group.add_argument("--mask", choices=("png", "raw"), default="png", help="masks as files or as arrays (png)")
    group.add_argument(
        "--check",
        choices=("signature", "header", "decode", "none"),
        default="signature",
        help="how closely to look at files that are stored as they are (signature)",
    )


def run(args: argparse.Namespace, printer: Printer) -> int:
    """Pack the source; 1 if files were skipped."""
    import recordmill as rm

    packed = rm.pack(make_source(args), args.destination, **_options(args))
    for path, cause in packed.skipped[:_MANY]:
        note(visible(f"skipped {path}: {cause}"))
    if len(packed.skipped) > _MANY:
        note(f"… and {len(packed.skipped) - _MANY:,} more (--json lists all)")
    printer.result(packed.to_json(), _lines(packed.to_json()))
    return FAULTS if packed.skipped else OK


def _options(args: argparse.Namespace) -> dict[str, Any]:
    names = (
        "format shards max_shard_bytes compression payload overwrite image_feature label_feature label_kind "
        "keep_name keep_shape encode quality resize color exif mask check workers worker_kind on_error shuffle "
        "restart_markers entry_points index"
    )
    options = {name: getattr(args, name) for name in names.split()}
    options["center_crop"] = False if args.center_crop is None else args.center_crop
    options["progress"] = False if args.quiet else None
    return options


def _lines(plain: dict[str, Any]) -> Iterator[str]:
    paths, skipped = plain["paths"], len(plain["skipped"])
    yield (
        f"{counted(plain['num_records'], 'record')} in {counted(len(paths), 'shard')}, "
        f"{byte_count(plain['num_bytes'])}" + (f"; {counted(skipped, 'file')} skipped" if skipped else "")
    )
    yield from paths
