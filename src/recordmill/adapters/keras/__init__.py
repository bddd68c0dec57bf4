"""Batches for ``fit`` of Keras 3 with any backend: ``recordmill.keras``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recordmill.adapters.common import combine_classes, require_extra
from recordmill.adapters.keras.stream import Stream

if TYPE_CHECKING:
    from recordmill.adapters.keras.dataset import PyDataset

__all__ = ["PyDataset", "Stream"]


def __getattr__(name: str) -> Any:
    if name != "PyDataset":
        raise AttributeError(f"module 'recordmill.keras' has no attribute {name!r}")
    from recordmill.adapters.keras import dataset

    with require_extra("keras", "pip install 'recordmill[keras]', and set KERAS_BACKEND to jax"):
        from keras.utils import PyDataset as Base
    globals()[name] = combine_classes(dataset.PyDataset, Base, __name__)
    return globals()[name]


def __dir__() -> list[str]:
    return __all__
