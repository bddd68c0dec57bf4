"""Generated images and readers of packed shards for the tests of packing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image

from recordmill import ShardReader
from recordmill.formats.registry import PAYLOADS
from recordmill.shards.index import load_sidecars
from recordmill.storage.local import LOCAL
from recordmill.types import Ragged
from tests.images import encode_image

FORMATS = ["tfrecord", "ofrecord", "recordio"]
# Kind of integer labels by format.
LABELS = {"tfrecord": np.int64, "ofrecord": np.int32, "recordio": np.float32}


def smooth_jpeg(seed: int, width: int = 20, height: int = 14) -> bytes:
    """Encode a smooth image that depends on the seed."""
    y, x = np.mgrid[:height, :width]
    pixels = np.stack([(x * 9 + seed * 31) % 256, (y * 13 + seed * 7) % 256, (x + y + seed) % 256], -1)
    return encode_image(Image.fromarray(pixels.astype(np.uint8)), "JPEG", quality=90)


def read_columns(path: str) -> dict:
    """Parse a shard with the schema of its sidecar."""
    sidecar = next(load_sidecars(path, LOCAL))
    assert sidecar is not None and sidecar.schema is not None and sidecar.payload is not None
    with ShardReader(path) as reader:
        return PAYLOADS[sidecar.payload].parse(Ragged.from_rows(list(reader)), sidecar.schema)


def visible_names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))


def read_files(folder: Path) -> dict[str, bytes]:
    """Read all files below a folder, including hidden ones."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
