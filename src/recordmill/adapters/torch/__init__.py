"""Batches as PyTorch tensors, and datasets for PyTorch's DataLoader: ``recordmill.torch``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recordmill.adapters.common import combine_classes, require_extra
from recordmill.adapters.torch.loader import Loader, loader
from recordmill.adapters.torch.tensors import RaggedTensor, tensors

if TYPE_CHECKING:
    from recordmill.adapters.torch.datasets import IterableDataset, MapDataset

__all__ = ["IterableDataset", "Loader", "MapDataset", "RaggedTensor", "loader", "tensors"]


def __getattr__(name: str) -> Any:
    if name not in ("IterableDataset", "MapDataset"):
        raise AttributeError(f"module 'recordmill.torch' has no attribute {name!r}")
    from recordmill.adapters.torch import datasets

    with require_extra("torch"):
        from torch.utils import data
    base = data.IterableDataset if name == "IterableDataset" else data.Dataset
    globals()[name] = combine_classes(getattr(datasets, name), base, __name__)
    return globals()[name]


def __dir__() -> list[str]:
    return __all__
