"""Models whose files appear when they are complete."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

PARTIAL = ".partial-"  # begins the names of files that are being written


class Whole:
    """A model that saves beside the file first, so that a killed program leaves no half of one under its name."""

    def __init__(self, model: Any) -> None:
        self._model = model

    def __getattr__(self, name: str) -> Any:
        """Give what the model has."""
        return getattr(self._model, name)

    def save(self, filepath: Any, **options: Any) -> None:
        """Save the whole model."""
        _write(self._model.save, Path(filepath), options)

    def save_weights(self, filepath: Any, **options: Any) -> None:
        """Save the weights."""
        _write(self._model.save_weights, Path(filepath), options)


def _write(save: Any, path: Path, options: dict[str, Any]) -> None:
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder")
    partial = path.with_name(PARTIAL + path.name)
    try:
        save(partial, **options)
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)
