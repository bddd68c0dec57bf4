"""Pictures through mx.recordio.pack_img and unpack_img: encoded bytes, and pixels as OpenCV returns them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mxnet as mx
import numpy as np

from recipes.mx_headers import summary_json
from recipes.mx_records import error_json, write
from recipes.values import write_json


def gradient(height: int, width: int, channels: int = 3, seed: int = 0) -> np.ndarray:
    """Return a smooth picture, uint8 height x width (x channels in BGR order), that no two seeds share."""
    rows, columns = np.mgrid[0:height, 0:width]
    planes = [rows * (7 + seed) + columns * (5 + 3 * channel) + 40 * channel for channel in range(channels)]
    picture = np.stack(planes, axis=-1) % 256
    return picture.astype(np.uint8) if channels > 1 else picture[..., 0].astype(np.uint8)


def plans() -> list[tuple[str, np.ndarray, int, str]]:
    """Return name, picture, quality and extension."""
    colour, grey, alpha = gradient(11, 17), gradient(9, 14, 1), gradient(8, 8, 4)
    return [
        ("colour jpeg", colour, 95, ".jpg"),
        ("colour jpeg, quality 50", colour, 50, ".jpg"),
        ("colour jpeg, other spelling", colour, 80, ".JPEG"),
        ("grey jpeg", grey, 95, ".jpg"),
        ("colour png", colour, 3, ".png"),
        ("colour png, default quality", colour, 95, ".png"),
        ("grey png", grey, 9, ".png"),
        ("png with alpha", alpha, 0, ".png"),
        ("one pixel", gradient(1, 1), 95, ".jpg"),
    ]


def pixels_json(array: np.ndarray | None) -> dict[str, Any] | None:
    """Return the shape and the pixels of a picture, or None."""
    return None if array is None else {"shape": list(array.shape), "pixels": array.tobytes().hex()}


def _row(position: int, name: str, picture: np.ndarray, quality: int, ending: str) -> tuple[bytes, dict[str, Any]]:
    header = mx.recordio.IRHeader(0, float(position), position, 0)
    packed = mx.recordio.pack_img(header, picture, quality=quality, img_fmt=ending)
    seen = {str(mode): pixels_json(mx.recordio.unpack_img(packed, iscolor=mode)[1]) for mode in (-1, 0, 1)}
    row = {"name": name, "quality": quality, "img_fmt": ending, "packed_from": pixels_json(picture), "iscolor": seen}
    return packed, row


def _broken() -> list[dict[str, Any]]:
    rows = []
    for name, data in {"no picture": b"no picture", "cut jpeg": b"\xff\xd8\xff\xe0"}.items():
        raw = mx.recordio.pack(mx.recordio.IRHeader(0, 1, 0, 0), data)
        rows.append({"name": name, "packed": raw.hex(), "pixels": pixels_json(mx.recordio.unpack_img(raw)[1])})
    raw = mx.recordio.pack(mx.recordio.IRHeader(0, 1, 0, 0), b"")
    try:
        rows.append({"name": "empty", "packed": raw.hex(), "pixels": pixels_json(mx.recordio.unpack_img(raw)[1])})
    except Exception as error:  # which class it is belongs to the recording
        rows.append({"name": "empty", "packed": raw.hex(), "error": error_json(error)})
    return rows


def record(out: Path) -> None:
    """Write OUT/images: images.rec and expected.json."""
    folder = out / "images"
    folder.mkdir(parents=True, exist_ok=True)
    made = [_row(position, *plan) for position, plan in enumerate(plans())]
    packed = [raw for raw, _ in made]
    write(folder / "images.rec", packed)
    headers = [summary_json(raw) for raw in packed]
    file = {"path": "images.rec", "records": [raw.hex() for raw in packed], "headers": headers}
    write_json(folder / "expected.json", {"files": [file], "pictures": [row for _, row in made], "broken": _broken()})
