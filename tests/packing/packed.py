"""What the tests of packing ask of packed shards."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from recordmill import ShardReader
from recordmill.formats.registry import PAYLOADS
from recordmill.shards.index import load_sidecars
from recordmill.types import Ragged

FORMATS = ["tfrecord", "ofrecord", "recordio"]
LABELS = {"tfrecord": np.int64, "ofrecord": np.int32, "recordio": np.float32}


def read(path: str) -> dict:
    """Columns of a shard, by the schema that was kept with it."""
    sidecar = next(load_sidecars(path))
    assert sidecar is not None and sidecar.schema is not None and sidecar.payload is not None
    with ShardReader(path) as reader:
        return PAYLOADS[sidecar.payload].parse(Ragged.from_rows(list(reader)), sidecar.schema)


def visible(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))


def everything(folder: Path) -> dict[str, bytes]:
    """All files below a folder, hidden ones too."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
