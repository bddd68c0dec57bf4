"""Batches on the devices, with the next one under way while the caller computes."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any

import recordmill as rm
from recordmill.adapters.frameworks import extra
from recordmill.adapters.handover import Handover, Stated
from recordmill.adapters.jax.arrays import arrays


class Loader(Handover):
    """A `recordmill.Loader` that delivers arrays of JAX.

    Parameters
    ----------
    loader : recordmill.Loader
    device : jax.Device, optional
        Where arrays go; JAX's default device by default.
    sharding : jax.sharding.Sharding, optional
        Of the global arrays that all processes make together, instead of a device.
    ahead : int
        Batches that are on their way to the devices while the caller has another. A state is that of the batch last
        delivered all the same.
    """

    def __init__(self, loader: rm.Loader, *, device: Any = None, sharding: Any = None, ahead: int = 1) -> None:
        if ahead < 0:
            raise ValueError(f"ahead is not negative, not {ahead}")
        super().__init__(loader)
        self._where = {"device": device, "sharding": sharding}
        self._num_ahead = ahead

    def _place(self, batches: Iterator[Stated]) -> Iterable[Stated]:
        waiting: deque[Stated] = deque()
        failed: Exception | None = None
        try:
            for batch, state in batches:
                waiting.append((arrays(batch, **self._where), state))
                if len(waiting) > self._num_ahead:
                    yield waiting.popleft()
        except Exception as error:  # noqa: BLE001 (it is raised behind the batches in front of it)
            failed = error
        yield from waiting
        if failed is not None:
            raise failed


def loader(  # noqa: PLR0913 (the options of a loader, and where arrays go)
    dataset: rm.Dataset,
    *,
    device: Any = None,
    sharding: Any = None,
    ahead: int = 1,
    threads: int = 2,
    prefetch: int = 2,
    rank: int | None = None,
    world_size: int | None = None,
    on_error: str = "raise",
    max_errors: float | None = None,
) -> Loader:
    """Iterate over a data set in arrays of JAX.

    Parameters
    ----------
    dataset : recordmill.Dataset
        Of batches.
    device : jax.Device, optional
        Where arrays go; JAX's default device by default.
    sharding : jax.sharding.Sharding, optional
        Of the global arrays that all processes make together, instead of a device: a ``NamedSharding`` whose first
        dimension runs over the devices, for data parallelism.
    ahead : int
        Batches that are on their way to the devices while the caller has another.
    rank, world_size : int, optional
        ``jax.process_index()`` and ``jax.process_count()`` where there are several processes or a sharding, else what
        `recordmill.Dataset.loader` finds, by default.
    threads, prefetch, on_error, max_errors
        As in `recordmill.Dataset.loader`.

    Returns
    -------
    Loader

    Raises
    ------
    MissingExtraError
        JAX is not installed.
    """
    with extra("jax"):
        import jax
    if rank is None and world_size is None and (sharding is not None or jax.process_count() > 1):
        rank, world_size = jax.process_index(), jax.process_count()
    made = dataset.loader(
        threads=threads, prefetch=prefetch, rank=rank, world_size=world_size, on_error=on_error, max_errors=max_errors
    )
    return Loader(made, device=device, sharding=sharding, ahead=ahead)
