"""The newest of the files that ``ModelCheckpoint`` and Keras's models write."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from recordmill.compat.tensorflow.core.errors import UnimplementedError

SUFFIXES = (".weights.h5", ".keras")


class Checkpoint(str):
    """Path of a file that was written last: from it, ``model.load_weights`` also restores the optimizer."""

    __slots__ = ()


def latest_checkpoint(checkpoint_dir: Any, latest_filename: str | None = None) -> Checkpoint | None:
    """Find the file of weights, or of a model, that was written last."""
    if latest_filename is not None:
        raise UnimplementedError("latest_filename: here the newest file is the latest checkpoint, without a list")
    folder = Path(os.fsdecode(checkpoint_dir))
    names = [entry.name for entry in os.scandir(folder)] if folder.is_dir() else []
    found = [name for name in names if name.endswith(SUFFIXES) and not name.startswith(".")]
    if found:
        return Checkpoint(os.path.join(os.fsdecode(checkpoint_dir), max(found, key=lambda name: _age(folder, name))))
    theirs = sorted(name for name in names if name.endswith(".index"))
    if theirs:
        raise UnimplementedError(
            f"checkpoint {theirs[-1].removesuffix('.index')!r} in {str(folder)!r} is in TensorFlow's own format",
            hint="load it with TensorFlow once and save it by model.save_weights('name.weights.h5')",
        )
    return None


def _age(folder: Path, name: str) -> tuple[int, str]:
    return (folder / name).stat().st_mtime_ns, name
