"""What goes on the contact sheet: read from the shards, not from the files they were made of."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import recordmill as rm
from recordmill.demo.sheet import Tile, colored, draw_sheet, opened
from recordmill.demo.steps import FAMILIES, Say, shards_of

_NUM_DIGITS = 44
_NUM_PAIRS = 4


def draw(folder: Path, say: Say) -> dict[str, Any]:
    """Draw the contact sheet."""
    groups: list[tuple[str, int, list[Tile]]] = [
        ("Handwritten digits with their labels, read from OFRecord", 38, _digits(folder)),
        ("Photographs with their classes, read from MXNet RecordIO", 138, _photos(folder)),
        ("Images and masks in the colors of Pascal VOC, read from TFRecord", 118, _pairs(folder)),
    ]
    path = folder / "contact-sheet.png"
    draw_sheet(path, groups)
    num_tiles = sum(len(tiles) for _, _, tiles in groups)
    say(f"Drew {num_tiles} pictures from the shards on {path}.")
    return {"path": path.name, "num_tiles": num_tiles}


def _digits(folder: Path) -> list[Tile]:
    family = FAMILIES["ofrecord"]
    examples = rm.open(shards_of(folder, "digits", "ofrecord"))[:_NUM_DIGITS]
    return [(opened(example[family.image]), str(int(example[family.label]))) for example in examples]


def _photos(folder: Path) -> list[Tile]:
    classes = rm.ImageFolder(folder / "images" / "photos").classes
    examples = rm.open(shards_of(folder, "photos", "recordio"))
    return [
        (opened(example["image"]), f"{int(example['label'])} {classes[int(example['label'])]}") for example in examples
    ]


def _pairs(folder: Path) -> list[Tile]:
    dataset = rm.open(shards_of(folder, "pairs", "tfrecord"))
    tiles: list[Tile] = []
    for example in [*dataset[:_NUM_PAIRS], *dataset[-_NUM_PAIRS:]]:
        indices = np.asarray(opened(example["label"]))
        classes = [str(index) for index in np.unique(indices)]
        words = " ".join(classes) if len(classes) <= 6 else f"{len(classes)} classes"
        tiles += [(opened(example["image"]), "image"), (colored(indices), words)]
    return tiles
