"""Draws the contact sheet: digits with labels, photographs with classes, masks in the colors of their classes."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.demo.masks import voc_palette

_WIDTH = 1040
_GAP = 8
_LINE = 16
_PAPER, _TEXT = (255, 255, 255), (40, 40, 40)
Tile = tuple[Any, str]


def opened(data: bytes) -> Any:
    """Picture of some encoded bytes."""
    from PIL import Image

    image = Image.open(io.BytesIO(data))
    image.load()
    return image


def colored(indices: NDArray[np.uint8]) -> Any:
    """Mask in the colors of Pascal VOC."""
    from PIL import Image

    return Image.fromarray(voc_palette()[indices])


def draw_sheet(path: Path, rows: Sequence[tuple[str, int, Sequence[Tile]]]) -> None:
    """Draw pictures in titled groups, and save them as PNG."""
    from PIL import Image

    parts = [_draw_group(title, side, tiles) for title, side, tiles in rows]
    sheet = Image.new("RGB", (_WIDTH, sum(part.height for part in parts)), _PAPER)
    top = 0
    for part in parts:
        sheet.paste(part, (0, top))
        top += part.height
    sheet.save(path, optimize=True)


def _draw_group(title: str, side: int, tiles: Sequence[Tile]) -> Any:
    from PIL import Image, ImageDraw

    per_row = (_WIDTH - _GAP) // (side + _GAP)
    num_rows = -(-len(tiles) // per_row)
    pitch = side + _LINE + _GAP
    group = Image.new("RGB", (_WIDTH, 2 * _GAP + _LINE + num_rows * pitch), _PAPER)
    draw = ImageDraw.Draw(group)
    draw.text((_GAP, _GAP), title, fill=_TEXT)
    for place, (picture, words) in enumerate(tiles):
        row, column = divmod(place, per_row)
        left, top = _GAP + column * (side + _GAP), 2 * _GAP + _LINE + row * pitch
        fitted = _fitted(picture, side)
        group.paste(fitted, (left + (side - fitted.width) // 2, top + (side - fitted.height) // 2))
        draw.text((left + side // 2, top + side + 1), words, fill=_TEXT, anchor="ma")
    return group


def _fitted(picture: Any, side: int) -> Any:
    """Scale the longer side to the tile; masks and digits without mixing neighbors."""
    from PIL import Image

    scale = side / max(picture.size)
    size = tuple(max(1, round(length * scale)) for length in picture.size)
    kernel = Image.Resampling.NEAREST if scale > 1 else Image.Resampling.LANCZOS
    return picture.convert("RGB").resize(size, kernel)
