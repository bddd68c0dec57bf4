"""Pack images and a label file into OFRecord parts: ``python -m recordmill.compat.oneflow.img2ofrecord``.

Options and output are those of the script of the same name in OneFlow's documentation. Unlike that script, it writes
exactly `part_num` parts, and a second run does not append to the parts of the first.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from typing import Literal

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
    """Run the command and return its exit status."""
    options = _create_parser().parse_args(arguments)
    _print_settings(options)
    try:
        _pack_images(options)
    except (RecordmillError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print("Process image successfully !!!")
    return 0


def _create_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="img2ofrecord", description="Pack images and labels into OFRecord parts.")
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


def _pack_images(options: argparse.Namespace) -> None:
    first = _read_first_image_name(options.label_dir)
    # If the first image name is an existing path, all names are used as paths. Otherwise, they are relative to
    # `image_root`.
    root = None if first and os.path.exists(first) else options.image_root
    source = rm.LabelFile(options.label_dir, root, allow_outside=True)
    paths = source.rows().paths()
    if options.part_num > len(paths):
        raise rm.InputError(
            "The amount of Files should be larger than part_num",
            kind="too_many_parts",
            shard=options.label_dir,
            expected=f"at least {options.part_num} files",
            found=str(len(paths)),
        )
    shown = 0

    def show_progress(done: int, total: int | None) -> None:
        nonlocal shown
        del total
        sys.stdout.write("".join([f"{path} feature saved\n" for path in paths[shown:done]]))
        shown = max(shown, done)

    rm.pack(
        source,
        os.path.join(options.save_dir, "part"),
        format="ofrecord",
        shards=options.part_num,
        encode=_ENCODINGS[options.img_format],
        color=True,
        exif=True,
        workers=None,
        progress=show_progress,
        index="never",
    )


def _read_first_image_name(label_file: str) -> str | None:
    """Return the image name on the first line of a label file, or None if there is no name.

    An invalid line raises no error here, because `rm.pack` reports invalid lines.
    """
    with open(label_file, encoding="utf-8-sig") as file:
        try:
            found = json.loads(file.readline())
        except (ValueError, RecursionError):
            return None
    return next(iter(found), None) if isinstance(found, dict) else None


if __name__ == "__main__":
    sys.exit(main())
