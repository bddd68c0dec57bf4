"""A loader that returns JAX arrays, and copies the next batches to the device while the caller computes."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from math import gcd, prod
from operator import index
from typing import Any

import recordmill as rm
from recordmill.adapters.common import is_non_negative_integer, require_extra
from recordmill.adapters.jax.arrays import ArrayConverter, check_placement
from recordmill.adapters.loader import BatchAndState, FrameworkLoader
from recordmill.suggestions import suggest_arguments


@suggest_arguments
def loader(
    dataset: rm.Dataset, *, device: Any = None, sharding: Any = None, ahead: int | None = None, **options: Any
) -> Loader:
    """Return a loader that iterates over a dataset and returns JAX arrays.

    Parameters
    ----------
    dataset : recordmill.Dataset
        Dataset of batches.
    device : jax.Device, optional
        Device of the arrays; by default JAX's default device.
    sharding : jax.sharding.Sharding, optional
        Sharding of global arrays that consist of the batches of all processes; cannot be combined with `device`. For
        data parallelism, pass a ``NamedSharding`` that divides the first dimension among all devices.
    ahead : int, optional
        Number of batches that are transferred ahead of the caller; by default 1, or 0 for a CPU device.
    **options
        Options of `recordmill.Dataset.loader`: threads, prefetch, on_error, max_errors, rank, world_size. With several
        processes or a sharding, rank and world_size are ``jax.process_index()`` and ``jax.process_count()`` by default.

    Returns
    -------
    Loader

    Raises
    ------
    MissingExtraError
        If JAX is not installed.
    TypeError
        If `device` or `sharding` has the wrong type.
    ValueError
        If an option is invalid, or if the sharding cannot divide the batches evenly. Iterating raises ValueError if the
        sharding replicates rows across processes with different ranks.
    """
    with require_extra("jax"):
        import jax
    check_placement(device, sharding)
    if not {"rank", "world_size"} & options.keys() and (sharding is not None or jax.process_count() > 1):
        options |= {"rank": jax.process_index(), "world_size": jax.process_count()}
    loader = dataset.loader(**options)
    if sharding is not None:
        _check_batch_sizes(dataset, sharding, loader.world_size)
    return Loader(loader, device=device, sharding=sharding, ahead=ahead)


class Loader(FrameworkLoader):
    """A `recordmill.Loader` that returns JAX arrays.

    Parameters
    ----------
    loader : recordmill.Loader
        Source of the batches; closed with this object.
    device : jax.Device, optional
        Device of the arrays; by default JAX's default device.
    sharding : jax.sharding.Sharding, optional
        Sharding of global arrays that consist of the batches of all processes; cannot be combined with `device`.
    ahead : int, optional
        Number of batches that are transferred ahead of the caller; by default 1, or 0 for a CPU device. In any case,
        `state_dict` returns the state after the last batch that the caller received.

    Raises
    ------
    MissingExtraError
        If JAX is not installed.
    TypeError
        If `device` or `sharding` has the wrong type.
    ValueError
        If `ahead` is invalid, or if both `device` and `sharding` are given.
    """

    def __init__(
        self, loader: rm.Loader, *, device: Any = None, sharding: Any = None, ahead: int | None = None
    ) -> None:
        if ahead is not None and not is_non_negative_integer(ahead):
            raise ValueError(f"ahead must be a non-negative integer, got {ahead!r}")
        check_placement(device, sharding)
        super().__init__(loader)
        self._device, self._sharding = device, sharding
        self._ahead = int(sharding is not None or not _is_cpu_device(device)) if ahead is None else index(ahead)

    def _convert_batches(self, batches: Iterator[BatchAndState]) -> Iterable[BatchAndState]:
        pending: deque[BatchAndState] = deque()
        error: Exception | None = None
        converter = ArrayConverter(self._device, self._sharding, self.world_size)
        try:
            for batch, state in batches:
                pending.append((converter.convert_batch(batch), state))
                if len(pending) > self._ahead:
                    yield pending.popleft()
        except Exception as caught:  # noqa: BLE001 (raised below, after the batches before it)
            error = caught
        yield from pending
        if error is not None:
            raise error


def _is_cpu_device(device: Any) -> bool:
    """Return True if a device is a CPU. None stands for the default device of JAX."""
    with require_extra("jax"):
        import jax
    device = device or jax.config.jax_default_device or jax.local_devices()[0]
    return (device if isinstance(device, str) else device.platform) == "cpu"


def _check_batch_sizes(dataset: rm.Dataset, sharding: Any, world_size: int) -> None:
    """Raise ValueError if the sharding cannot divide every batch of an epoch into parts of equal size.

    Batches of unknown size are checked when they are converted: a function after `batch` may change sizes, and with a
    filter, the size of the last batch is unknown.
    """
    stage = dataset.batch_stage
    if stage is None:
        raise ValueError("sharding= requires batches: add batch(n) to the end of the pipeline")
    if dataset.batch_maps:
        return
    global_size, num_parts = stage.size * world_size, _count_sharding_parts(sharding)
    if global_size % num_parts:
        raise ValueError(
            f"batches of {global_size} samples ({stage.size} per rank) cannot be divided evenly into the {num_parts} "
            f"parts of {sharding}: use batch(n) with a multiple of {num_parts // gcd(num_parts, world_size)}"
        )
    rest = _partial_batch_size(dataset, world_size)
    if rest % world_size or rest % num_parts:
        raise ValueError(
            f"the last {rest} samples of an epoch form an incomplete batch, whose size must be divisible by "
            f"{world_size} (the number of ranks) and by {num_parts} (the number of parts of {sharding}): use "
            f'batch({stage.size}, last="drop"), last="pad" or last="wrap"'
        )


def _count_sharding_parts(sharding: Any) -> int:
    """Return the number of parts into which a named sharding divides the first dimension."""
    first = next(iter(getattr(sharding, "spec", ())), None)
    names = first if isinstance(first, tuple) else (first,)
    return prod(sharding.mesh.shape[name] for name in names if isinstance(name, str))


def _partial_batch_size(dataset: rm.Dataset, world_size: int) -> int:
    """Return the size of an incomplete last batch, summed over all ranks; 0 if there is none or its size is unknown."""
    sampler = dataset.create_sampler(0, world_size)
    if sampler.length is None or sampler.last != "keep" or dataset.pipeline.has_filter:
        return 0
    return (sampler.length - sampler.start) % sampler.global_size
