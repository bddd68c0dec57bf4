"""Images and a label file to OFRecord parts: ``python -m recordmill.compat.oneflow.img2ofrecord``.

Options and output are those of the script of the same name in OneFlow's documentation. Unlike there, the number of
parts is the one that was asked for, and a second run refuses to add to the parts of the first.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, cast

import recordmill as rm
from recordmill.errors import RecordmillError

_Encoding = Literal["png", "jpeg", "tiff", "webp"]
_ENCODINGS: dict[str, _Encoding] = {
    ".png": "png",
    ".jpg": "jpeg",
    ".jpeg": "jpeg",
    ".tif": "tiff",
    ".tiff": "tiff",
    ".webp": "webp",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Pack, and say so.

    Parameters
    ----------
    arguments : sequence of str, optional
        Of the command line.

    Returns
    -------
    int
        Exit code: 0, or 2 if nothing was written.
    """
    options = _parser().parse_args(arguments)
    _print_settings(options)
    try:
        _pack(options)
    except (RecordmillError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print("Process image successfully !!!")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="img2ofrecord", description="Images and a label file to OFRecord parts.")
    parser.add_argument("--image_root", default="./images/train_set", help="The directory of images")
    parser.add_argument("--part_num", type=int, default=5, help="The amount of OFRecord partitions")
    parser.add_argument("--label_dir", default="./images/train_label/label.txt", help="The file of labels")
    parser.add_argument("--img_format", default=".png", choices=sorted(_ENCODINGS), help="The encode format of images")
    parser.add_argument("--save_dir", default="./dataset/", help="The save directory of OFRecord partitions")
    return parser


def _print_settings(options: argparse.Namespace) -> None:
    print("The image root is: ", options.image_root)
    print("The amount of OFRecord data part is: ", options.part_num)
    print("The directory of Labels is: ", options.label_dir)
    print("The image format is: ", options.img_format)
    print("The OFRecord save directory is: ", options.save_dir)
    print("Start Processing......", flush=True)


def _pack(options: argparse.Namespace) -> None:
    names = _names(options.label_dir)
    if options.part_num > len(names):
        raise rm.InputError(
            "The amount of Files should be larger than part_num",
            kind="too_many_parts",
            shard=options.label_dir,
            expected=f"at least {options.part_num} files",
            found=str(len(names)),
        )
    # Labels may name files below the image root, or as they are found from here.
    root = None if names and os.path.exists(names[0]) else cast("str", options.image_root)
    paths = names if root is None else [os.path.join(root, name) for name in names]
    shown = 0

    def show(done: int, total: int | None) -> None:
        nonlocal shown
        del total
        for path in paths[shown:done]:
            print(f"{path} feature saved")
        shown = max(shown, done)

    rm.pack(
        rm.LabelFile(options.label_dir, root),
        os.path.join(options.save_dir, "part"),
        format="ofrecord",
        shards=options.part_num,
        encode=_ENCODINGS[options.img_format],
        color=True,
        exif=True,
        workers=None,
        progress=show,
    )


def _names(label_file: str) -> list[str]:
    """Names in the order of the file; what is wrong with a line, packing tells."""
    names: list[str] = []
    for line in Path(label_file).read_text("utf-8-sig").splitlines():
        try:
            found = json.loads(line)
        except ValueError:
            found = None
        names += found if isinstance(found, dict) else [line]
    return names


if __name__ == "__main__":
    sys.exit(main())
