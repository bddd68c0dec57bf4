"""Whether the devices that a caller names can take the batches of a loader: told before the first one is made."""

from __future__ import annotations

from collections.abc import Callable
from math import gcd, prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

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


# What JAX makes of 64-bit numbers unless it was told to keep them.
_NARROW = {"int64": np.int32, "uint64": np.uint32, "float64": np.float32, "complex128": np.complex64}


class RaggedArray(NamedTuple):
    """Rows of different lengths in one array; a pytree.

    Its shape changes from batch to batch, and a compiled function is compiled again for each: pad for those
    (``batch(n, ragged="pad")``).

    Parameters
    ----------
    values : jax.Array, shape (total, ...), or RaggedArray of ``total`` rows
        All rows, back to back.
    offsets : jax.Array of int, shape (num_rows + 1,)
        Row ``i`` is ``values[offsets[i]:offsets[i + 1]]``.
    """

    values: Any
    offsets: Any


def arrays(batch: dict[str, Any], *, device: Any = None, sharding: Any = None) -> dict[str, Any]:
    """Put the arrays of a batch on a device, or this process's part of a global batch on its devices.

    Returns at once: JAX copies in the background. On CPU devices, arrays share the memory of the batch where their
    address suits JAX.

    Parameters
    ----------
    batch : dict of str to ndarray, Ragged or list
    device : jax.Device, optional
        JAX's default device by default.
    sharding : jax.sharding.Sharding, optional
        Of the global arrays, instead of a device. The first dimension of a global array is as long as the batches of
        all processes together.

    Returns
    -------
    dict
        Arrays of numbers as `jax.Array`; 64-bit ones become 32-bit ones unless ``jax_enable_x64`` is set. A `Ragged`
        becomes a `RaggedArray`. Byte strings stay on the host, as a list of `bytes`, and so does what JAX has no type
        for.

    Raises
    ------
    FeatureError
        Integers that do not fit into 32 bits, a shape that cannot be sharded so, a `Ragged` with a sharding.
    MissingExtraError
        JAX is not installed.
    TypeError, ValueError
        A device or sharding that is none, or both.
    """
    check_place(device, sharding)
    return Place(device, sharding).batch(batch)


class Place:
    """Where the arrays of batches go.

    Parameters
    ----------
    device : jax.Device or None
    sharding : jax.sharding.Sharding or None
    world_size : int
        Ranks of which each has rows of its own in a global array.
    """

    def __init__(self, device: Any, sharding: Any, world_size: int = 1) -> None:
        with extra("jax"):
            import jax
        self._keeps_wide = bool(jax.config.jax_enable_x64)
        self._sharding, self._world_size = sharding, world_size
        self._put: Callable[[NDArray[Any]], Any] = lambda array: jax.device_put(array, device)
        if sharding is not None:
            self._put = lambda array: jax.make_array_from_process_local_data(sharding, array)

    def batch(self, batch: dict[str, Any]) -> dict[str, Any]:
        """Put all features of a batch there (see `arrays`)."""
        return {name: self.value(name, value) for name, value in batch.items()}

    def value(self, name: str, value: Any) -> Any:
        """One feature of a batch, or part of it."""
        if isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "biufc":
            return self._array(name, np.asarray(value))
        if isinstance(value, rm.Ragged):
            return self._ragged(name, value)
        if isinstance(value, list | tuple) and not any(isinstance(inner, bytes | str) for inner in value[:1]):
            return [self.value(name, inner) for inner in value]
        return value

    def _array(self, name: str, array: NDArray[Any]) -> Any:
        fitting = array if self._keeps_wide else _narrowed(name, array)
        try:
            made = self._put(fitting)
        except ValueError as error:
            if self._sharding is None:
                raise
            message = f"feature {name!r} of shape {array.shape} cannot be sharded as {self._sharding}: {error}"
            raise rm.FeatureError(message, kind="feature_mismatch", hint=self._hint(array)) from error
        if self._sharding is not None and len(array) and len(made) < len(array) * self._world_size:
            raise self._shared_rows(name, len(array), made)
        return made

    def _hint(self, array: NDArray[Any]) -> str:
        if array.ndim < len(getattr(self._sharding, "spec", ())):
            return "shard the first dimension alone, which every feature of a batch has, and other arrays afterwards"
        return 'make all batches one size that the devices divide: batch(n, last="drop") or batch(n, last="pad")'

    def _shared_rows(self, name: str, num_rows: int, made: Any) -> ValueError:
        """What to say where the devices of several processes hold the same rows, which each process made for itself."""
        first = min(shard.index[0].start or 0 for shard in made.addressable_shards)
        return ValueError(
            f"{self._world_size} processes with {num_rows} rows each make {len(made)} rows of feature {name!r} under "
            f"{self._sharding}: some would hold other numbers at the same rows. Shard the first dimension over all "
            "processes, or give those that hold the same rows the same rank: here "
            f"rank={first // num_rows}, world_size={len(made) // num_rows}"
        )

    def _ragged(self, name: str, ragged: rm.Ragged) -> Any:
        inner = ragged.data
        while isinstance(inner, rm.Ragged):
            inner = inner.data
        if inner.dtype == np.uint8 and inner.ndim == 1:
            return ragged.to_list()
        if self._sharding is not None:
            hint = 'pad it: batch(n, ragged="pad")'
            message = f"feature {name!r} has rows of different lengths, which no sharding divides"
            raise rm.FeatureError(message, kind="feature_mismatch", hint=hint)
        return RaggedArray(self.value(name, ragged.data), self._array(name, ragged.row_splits))


def _narrowed(name: str, array: NDArray[Any]) -> NDArray[Any]:
    narrow = _NARROW.get(array.dtype.name)
    if narrow is None:
        return array
    if array.dtype.kind in "iu" and array.size:
        limits = np.iinfo(narrow)
        if array.min() < limits.min or array.max() > limits.max:
            hint = 'keep 64 bits with jax.config.update("jax_enable_x64", True), or leave the feature out with map()'
            message = f"feature {name!r} holds integers that do not fit into the 32 bits that JAX gives them"
            raise rm.FeatureError(message, kind="feature_mismatch", hint=hint)
    return array.astype(narrow)
