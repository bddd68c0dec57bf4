"""Batches as PyTorch tensors, and data sets for its DataLoader: ``recordmill.torch``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recordmill.adapters.frameworks import extra, joined
from recordmill.adapters.torch.loader import Loader, loader
from recordmill.adapters.torch.tensors import RaggedTensor, tensors

if TYPE_CHECKING:
    from recordmill.adapters.torch.iterable import IterableDataset
    from recordmill.adapters.torch.map import MapDataset

__all__ = ["IterableDataset", "Loader", "MapDataset", "RaggedTensor", "loader", "tensors"]


def __getattr__(name: str) -> Any:
    if name not in ("IterableDataset", "MapDataset"):
        raise AttributeError(f"module 'recordmill.torch' has no attribute {name!r}")
    from recordmill.adapters.torch import iterable, map  # noqa: A004 (the module)

    with extra("torch"):
        from torch.utils import data
    ours, base = (iterable, data.IterableDataset) if name == "IterableDataset" else (map, data.Dataset)
    globals()[name] = joined(getattr(ours, name), base, __name__)
    return globals()[name]


def __dir__() -> list[str]:
    return __all__
