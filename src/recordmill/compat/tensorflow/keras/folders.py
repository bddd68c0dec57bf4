"""Keras's functions that make data sets of folders and arrays, with data sets of this package for TensorFlow's."""

from __future__ import annotations

import functools
import importlib
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from recordmill.compat.tensorflow.keras.loading import face

NAMES = frozenset(
    {
        "audio_dataset_from_directory",
        "image_dataset_from_directory",
        "text_dataset_from_directory",
        "timeseries_dataset_from_array",
    }
)
# Where Keras's functions get TensorFlow from when they are called.
_SOURCE = "keras.src.utils.module_utils"
_SWAPPING = threading.Lock()


def member(module: str, name: str) -> Any:
    """Name of one of Keras's modules; data sets of it are this package's."""
    found = getattr(getattr(face(), module), name)
    return _with_ours(found) if name in NAMES else found


def _with_ours(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if kwargs.get("crop_to_aspect_ratio"):
            raise NotImplementedError(
                "crop_to_aspect_ratio is not supported: crop in a function given to map, or use pad_to_aspect_ratio"
            )
        if kwargs.get("format", "tf") != "tf":
            return function(*args, **kwargs)
        with ours_in(sys.modules[function.__module__]):
            return function(*args, **kwargs)

    return call


@contextmanager
def ours_in(module: ModuleType) -> Iterator[None]:
    """Let a function find this package where it looks for TensorFlow; its map functions do so whenever they run."""
    ours = importlib.import_module("recordmill.compat.tensorflow")
    source: Any = importlib.import_module(_SOURCE)
    with _SWAPPING:
        before, source.tensorflow = source.tensorflow, ours
        module.__dict__["tf"] = ours
        try:
            yield
        finally:
            source.tensorflow = before
