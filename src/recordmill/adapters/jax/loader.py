"""Batches on the devices, with the next one under way while the caller computes."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any

import recordmill as rm
from recordmill.adapters.checks import whole
from recordmill.adapters.frameworks import extra
from recordmill.adapters.handover import Handover, Stated
from recordmill.adapters.jax.arrays import Place, check_place, check_sizes, is_processor


class Loader(Handover):
    """A `recordmill.Loader` that delivers arrays of JAX.

    Parameters
    ----------
    loader : recordmill.Loader
    device : jax.Device, optional
        Where arrays go; JAX's default device by default.
    sharding : jax.sharding.Sharding, optional
        Of the global arrays that all processes make together, instead of a device.
    ahead : int, optional
        Batches that are on their way to the devices while the caller has another: one unless given, none to a device
        that is the processor. A state is that of the batch last delivered all the same.
    """

    def __init__(
        self, loader: rm.Loader, *, device: Any = None, sharding: Any = None, ahead: int | None = None
    ) -> None:
        if ahead is not None:
            ahead = whole(ahead, "ahead is a whole number of batches, not negative")
        check_place(device, sharding)
        super().__init__(loader)
        self._device, self._sharding = device, sharding
        self._num_ahead = ahead if ahead is not None else int(sharding is not None or not is_processor(device))

    def _place(self, batches: Iterator[Stated]) -> Iterable[Stated]:
        waiting: deque[Stated] = deque()
        failed: Exception | None = None
        place = Place(self._device, self._sharding, self.world_size)
        try:
            for batch, state in batches:
                waiting.append((place.batch(batch), state))
                if len(waiting) > self._num_ahead:
                    yield waiting.popleft()
        except Exception as error:  # noqa: BLE001 (it is raised behind the batches in front of it)
            failed = error
        yield from waiting
        if failed is not None:
            raise failed


def loader(
    dataset: rm.Dataset, *, device: Any = None, sharding: Any = None, ahead: int | None = None, **options: Any
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
    ahead : int, optional
        Batches that are on their way to the devices while the caller has another: one unless given, none to a device
        that is the processor.
    **options
        What `recordmill.Dataset.loader` takes: threads, prefetch, on_error, max_errors; rank and world_size, which are
        ``jax.process_index()`` and ``jax.process_count()`` by default where there are several processes or a sharding.

    Returns
    -------
    Loader

    Raises
    ------
    MissingExtraError
        JAX is not installed.
    TypeError
        A device or sharding that is none.
    ValueError
        Options that make no sense, or batches of an epoch that the sharding cannot divide evenly. While iterating: a
        sharding by which several processes hold the same rows, though each made its own; give these the same rank.
    """
    with extra("jax"):
        import jax
    check_place(device, sharding)
    if not {"rank", "world_size"} & options.keys() and (sharding is not None or jax.process_count() > 1):
        options |= {"rank": jax.process_index(), "world_size": jax.process_count()}
    made = dataset.loader(**options)
    if sharding is not None:
        check_sizes(dataset, sharding, made.world_size)
    return Loader(made, device=device, sharding=sharding, ahead=ahead)
