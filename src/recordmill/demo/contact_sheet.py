"""Draw a contact sheet of images from the shards, with their labels, classes and masks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import recordmill as rm
from recordmill.demo.images import open_image, voc_palette
from recordmill.demo.steps import DEMO_FORMATS, PrintLine, shard_folder

_NUM_DIGITS = 44
_NUM_PAIRS = 4
# Lengths in the contact sheet, in pixels.
_WIDTH = 1040
_GAP = 8
_LINE_HEIGHT = 16
_BACKGROUND, _TEXT_COLOR = (255, 255, 255), (40, 40, 40)

Tile = tuple[Any, str]  # An image and its caption.


def write_contact_sheet(folder: Path, print_line: PrintLine) -> dict[str, Any]:
    """Draw some images of each dataset to ``contact-sheet.png``."""
    groups = [
        ("Handwritten digits with their labels, read from OFRecord", 38, _load_digit_tiles(folder)),
        ("Photographs with their classes, read from MXNet RecordIO", 138, _load_photo_tiles(folder)),
        ("Images and masks in the colors of Pascal VOC, read from TFRecord", 118, _load_pair_tiles(folder)),
    ]
    path = folder / "contact-sheet.png"
    _draw_sheet(path, groups)
    num_tiles = sum(len(tiles) for _, _, tiles in groups)
    print_line(f"Drew {num_tiles} images from the shards to {path}.")
    return {"path": path.name, "num_tiles": num_tiles}


def _load_digit_tiles(folder: Path) -> list[Tile]:
    names = DEMO_FORMATS["ofrecord"]
    examples = rm.open(shard_folder(folder, "digits", "ofrecord"))[:_NUM_DIGITS]
    return [(open_image(example[names.image]), str(int(example[names.label]))) for example in examples]


def _load_photo_tiles(folder: Path) -> list[Tile]:
    classes = rm.ImageFolder(folder / "images" / "photos").classes
    examples = rm.open(shard_folder(folder, "photos", "recordio"))
    labels = [int(example["label"]) for example in examples]
    return [
        (open_image(example["image"]), f"{label} {classes[label]}")
        for example, label in zip(examples, labels, strict=True)
    ]


def _load_pair_tiles(folder: Path) -> list[Tile]:
    dataset = rm.open(shard_folder(folder, "pairs", "tfrecord"))
    tiles: list[Tile] = []
    for example in [*dataset[:_NUM_PAIRS], *dataset[-_NUM_PAIRS:]]:
        indices = np.asarray(open_image(example["label"]))
        classes = [str(index) for index in np.unique(indices)]
        caption = " ".join(classes) if len(classes) <= 6 else f"{len(classes)} classes"
        tiles += [(open_image(example["image"]), "image"), (color_mask(indices), caption)]
    return tiles


def color_mask(indices: NDArray[np.uint8]) -> Any:
    """Convert a mask of class indices to an image in the colors of Pascal VOC."""
    from PIL import Image

    return Image.fromarray(voc_palette()[indices])


def _draw_sheet(path: Path, groups: Sequence[tuple[str, int, Sequence[Tile]]]) -> None:
    """Draw groups of tiles to an image file; a group is (title, side length of a tile in pixels, tiles)."""
    from PIL import Image

    parts = [_draw_group(title, side, tiles) for title, side, tiles in groups]
    sheet = Image.new("RGB", (_WIDTH, sum(part.height for part in parts)), _BACKGROUND)
    top = 0
    for part in parts:
        sheet.paste(part, (0, top))
        top += part.height
    sheet.save(path, optimize=True)


def _draw_group(title: str, side: int, tiles: Sequence[Tile]) -> Any:
    from PIL import Image, ImageDraw

    per_row = (_WIDTH - _GAP) // (side + _GAP)
    num_rows = -(-len(tiles) // per_row)
    row_height = side + _LINE_HEIGHT + _GAP
    group = Image.new("RGB", (_WIDTH, 2 * _GAP + _LINE_HEIGHT + num_rows * row_height), _BACKGROUND)
    draw = ImageDraw.Draw(group)
    draw.text((_GAP, _GAP), title, fill=_TEXT_COLOR)
    for position, (image, caption) in enumerate(tiles):
        row, column = divmod(position, per_row)
        left, top = _GAP + column * (side + _GAP), 2 * _GAP + _LINE_HEIGHT + row * row_height
        scaled = _scale_longer_side(image, side)
        group.paste(scaled, (left + (side - scaled.width) // 2, top + (side - scaled.height) // 2))
        draw.text((left + side // 2, top + side + 1), caption, fill=_TEXT_COLOR, anchor="ma")
    return group


def _scale_longer_side(image: Any, side: int) -> Any:
    """Scale the longer side of an image to `side` pixels; enlarge with nearest neighbor to keep pixels visible."""
    from PIL import Image

    scale = side / max(image.size)
    size = tuple(max(1, round(length * scale)) for length in image.size)
    resampling = Image.Resampling.NEAREST if scale > 1 else Image.Resampling.LANCZOS
    return image.convert("RGB").resize(size, resampling)
