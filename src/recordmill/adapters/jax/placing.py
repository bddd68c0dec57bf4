"""Whether the devices that a caller names can take the batches of a loader: told before the first one is made."""

from __future__ import annotations

from math import gcd, prod
from typing import Any

import recordmill as rm
from recordmill.adapters.frameworks import extra


def check_place(device: Any, sharding: Any) -> None:
    """Refuse what JAX cannot put arrays on.

    Parameters
    ----------
    device : jax.Device or None
    sharding : jax.sharding.Sharding or None

    Raises
    ------
    TypeError
        Something else.
    ValueError
        Both.
    """
    if device is not None and sharding is not None:
        raise ValueError("arrays go to a device or are sharded, not both")
    with extra("jax"):
        import jax
    if device is not None and not isinstance(device, jax.Device):
        raise TypeError(
            f"device is one of jax.devices(), not {device!r}; what spreads arrays over several is sharding="
        )
    if sharding is not None and not isinstance(sharding, jax.sharding.Sharding):
        how = 'jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("data"))'
        raise TypeError(f"sharding is a jax.sharding.Sharding such as {how}, not {sharding!r}")


def is_processor(device: Any) -> bool:
    """Whether a device, or JAX's default one, is the processor, whose memory holds batches already.

    Parameters
    ----------
    device : jax.Device, optional

    Returns
    -------
    bool
    """
    with extra("jax"):
        import jax
    found = device or jax.config.jax_default_device or jax.local_devices()[0]
    return (found if isinstance(found, str) else found.platform) == "cpu"


def check_sizes(dataset: rm.Dataset, sharding: Any, world_size: int) -> None:
    """Refuse batches that the devices cannot share evenly, the last one of an epoch among them.

    Functions behind `batch` may change sizes, and a filter leaves the last one open: there, the batch itself tells.

    Parameters
    ----------
    dataset : recordmill.Dataset
    sharding : jax.sharding.Sharding
    world_size : int

    Raises
    ------
    ValueError
    """
    stage = dataset.stage
    if stage is None:
        raise ValueError("a sharding divides batches: end the pipeline with batch(n)")
    if dataset.maps:
        return
    together, parts = stage.size * world_size, _parts(sharding)
    if together % parts:
        raise ValueError(
            f"batches of {together} samples ({stage.size} of each rank) cannot be divided evenly into {parts} parts, "
            f"as {sharding} does: take batch(n) with a multiple of {parts // gcd(parts, world_size)}"
        )
    rest = _rest(dataset, world_size)
    if rest % world_size or rest % parts:
        raise ValueError(
            f"the last {rest} samples of an epoch cannot be divided evenly among {world_size} ranks and into {parts} "
            f'parts, as {sharding} does: take batch({stage.size}, last="drop"), "pad" or "wrap"'
        )


def _parts(sharding: Any) -> int:
    """Pieces into which the first dimension is cut, as far as the sharding names them."""
    first = next(iter(getattr(sharding, "spec", ())), None)
    names = first if isinstance(first, tuple) else (first,)
    return prod(sharding.mesh.shape[name] for name in names if isinstance(name, str))


def _rest(dataset: rm.Dataset, world_size: int) -> int:
    """Samples of all ranks in a last batch that is smaller than the others."""
    cuts = dataset.cuts(0, world_size)
    if cuts.length is None or cuts.last != "keep" or dataset.program.is_stream:
        return 0
    return (cuts.length - cuts.start) % cuts.together
