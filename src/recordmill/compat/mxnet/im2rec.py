"""``python -m recordmill.compat.mxnet.im2rec``: image lists of a folder, and record files of image lists."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from recordmill.compat.mxnet.listing import make_lists
from recordmill.compat.mxnet.packing import pack_list


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"at least 1, not {text}")
    return number


def parser() -> argparse.ArgumentParser:
    """Options of the command, with MXNet's names and defaults."""
    made = argparse.ArgumentParser(
        prog="python -m recordmill.compat.mxnet.im2rec",
        description="Make image lists of a folder (--list), or record files of image lists.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    made.add_argument("prefix", help="beginning of the names of .lst, .rec and .idx files, or a folder of .lst files")
    made.add_argument("root", help="folder of the images")
    lists = made.add_argument_group("lists")
    lists.add_argument("--list", action="store_true", help="make lists")
    lists.add_argument("--exts", nargs="+", default=[".jpeg", ".jpg", ".png"], help="suffixes of images")
    lists.add_argument("--chunks", type=_count, default=1, help="number of lists")
    lists.add_argument("--train-ratio", type=float, default=1.0, help="part for training")
    lists.add_argument("--test-ratio", type=float, default=0, help="part for testing")
    lists.add_argument("--recursive", action="store_true", help="a label for each folder below the root")
    lists.add_argument("--no-shuffle", dest="shuffle", action="store_false", help="keep the order of names")
    records = made.add_argument_group("records")
    records.add_argument("--pass-through", action="store_true", help="store files as they are")
    records.add_argument("--resize", type=int, default=0, help="length of the shorter side; 0 leaves it")
    records.add_argument("--center-crop", action="store_true", help="cut to the square in the middle first")
    records.add_argument("--quality", type=int, default=95, help="of JPEG, 1 to 100; compression of PNG, 0 to 9")
    records.add_argument("--num-thread", type=int, default=1, help="images encoded side by side")
    records.add_argument("--color", type=int, default=1, choices=[-1, 0, 1], help="as stored, grey, or colour")
    records.add_argument("--encoding", default=".jpg", choices=[".jpg", ".png"], help="of the stored images")
    records.add_argument("--pack-label", action="store_true", help="store all labels of an image, not the first alone")
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command."""
    options = parser().parse_args(arguments)
    prefix, root = os.path.abspath(options.prefix), os.path.abspath(options.root)
    if not os.path.isdir(root):
        print(f"{options.root} is no folder", file=sys.stderr)
        return 2
    if options.list:
        make_lists(prefix, root, options)
        return 0
    folder = prefix if os.path.isdir(prefix) else os.path.dirname(prefix)
    names = sorted(os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".lst"))
    lists = [name for name in names if name.startswith(prefix) and os.path.isfile(name)]
    if not lists:
        print(f"Did not find and list file with prefix {prefix}")
    for name in lists:
        print("Creating .rec file from", name, "in", folder, flush=True)
        skipped = pack_list(name, root, options)
        if skipped:
            print(f"{name}: {skipped} images were left out", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
