"""A training of several processes in which each would see everything: told of, as nothing else shows it."""

from __future__ import annotations

import sys
import warnings
from typing import Any

import recordmill as rm


def warn_if_undivided(dataset: rm.Dataset, options: dict[str, Any]) -> None:
    """Warn where ``torch.distributed`` has several ranks and nothing says which part of the data this one has.

    Parameters
    ----------
    dataset : recordmill.Dataset
    options : dict
        Of its loader.
    """
    distributed = sys.modules.get("torch.distributed")
    if dataset.is_sharded or options.get("rank") is not None or distributed is None or not distributed.is_available():
        return
    if distributed.is_initialized() and distributed.get_world_size() > 1:
        warnings.warn(
            f"each of the {distributed.get_world_size()} ranks of torch.distributed gets all the batches: put shard() "
            "into the pipeline, which gives each its own, or say rank=0, world_size=1 if that is meant",
            stacklevel=3,
        )
