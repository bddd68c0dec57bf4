"""``tf.train.latest_checkpoint`` for the files that ``ModelCheckpoint`` and Keras's models write."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from recordmill.compat.tensorflow.core.errors import UnimplementedError

SUFFIXES = (".weights.h5", ".keras")


class Checkpoint(str):
    """Path of a checkpoint from which ``model.load_weights`` restores the weights and the optimizer."""

    __slots__ = ()


def latest_checkpoint(checkpoint_dir: Any, latest_filename: str | None = None) -> Checkpoint | None:
    """Return the path of the newest weights file or model file in a folder, or None if the folder has neither."""
    if latest_filename is not None:
        raise UnimplementedError("latest_filename is not supported; latest_checkpoint always returns the newest file")
    folder = Path(os.fsdecode(checkpoint_dir))
    names = [entry.name for entry in os.scandir(folder)] if folder.is_dir() else []
    found = [name for name in names if name.endswith(SUFFIXES) and not name.startswith(".")]
    if found:
        newest = max(found, key=lambda name: ((folder / name).stat().st_mtime_ns, name))
        return Checkpoint(os.path.join(os.fsdecode(checkpoint_dir), newest))
    indices = sorted(name for name in names if name.endswith(".index"))
    if indices:
        raise UnimplementedError(
            f"checkpoint {indices[-1].removesuffix('.index')!r} in {str(folder)!r} is in TensorFlow's own format",
            hint="load it once with TensorFlow, and save it with model.save_weights('name.weights.h5')",
        )
    return None
