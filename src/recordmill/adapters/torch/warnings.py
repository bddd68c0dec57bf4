"""A DataLoader that makes batches of what are batches already: told of, as shapes show it late or never."""

from __future__ import annotations

import sys
import warnings
from typing import Any

import recordmill as rm
from recordmill.adapters.frameworks import extra


def warn_if_batched_again(dataset: Any) -> None:
    """Warn where the DataLoader that asks for elements would stack batches of a pipeline; called by what it calls.

    A DataLoader tells a data set nothing of its own batches, so this looks at who is asking. One with a `collate_fn` of
    the user's may well join batches, and is left alone.

    Parameters
    ----------
    dataset : recordmill.Dataset
        What the elements are of.
    """
    stage = getattr(dataset, "stage", None)
    asking = sys._getframe(1).f_back
    fetcher = None if asking is None else asking.f_locals.get("self")
    if stage is None or not getattr(fetcher, "auto_collation", False):
        return
    with extra("torch"):
        from torch.utils.data import default_collate, get_worker_info
    worker = get_worker_info()
    if fetcher.collate_fn is default_collate and (worker is None or worker.id == 0):  # type: ignore[union-attr]
        warnings.warn(
            f"the DataLoader makes batches of batches: what has shape ({stage.size}, ...) gets a dimension in front. "
            "Give it batch_size=None, which takes batches as they are, or leave batch() out of the pipeline",
            stacklevel=4,
        )


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
