"""Conversion of batches to JAX arrays on a device, or to global arrays with a sharding."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import recordmill as rm
from recordmill.adapters.common import contains_bytes, require_extra

# Unless jax_enable_x64 is set, JAX converts 64-bit numbers to these 32-bit dtypes.
_NARROW_DTYPES = {"int64": np.int32, "uint64": np.uint32, "float64": np.float32, "complex128": np.complex64}


class RaggedArray(NamedTuple):
    """Rows of different lengths in one array; a pytree.

    Its shape differs from batch to batch, and a jitted function is compiled again for each shape. To avoid that, pad
    the rows with ``batch(n, ragged="pad")``.

    Parameters
    ----------
    values : jax.Array, shape (total, ...), or RaggedArray with ``total`` rows
        Concatenation of all rows.
    offsets : jax.Array of int, shape (num_rows + 1,)
        Row ``i`` is ``values[offsets[i]:offsets[i + 1]]``.
    """

    values: Any
    offsets: Any


def arrays(batch: dict[str, Any], *, device: Any = None, sharding: Any = None) -> dict[str, Any]:
    """Convert the arrays of a batch to JAX arrays on a device, or to global arrays with a sharding.

    Returns immediately; JAX copies in the background. On CPU devices, arrays share the memory of the batch if its
    alignment permits.

    Parameters
    ----------
    batch : dict of str to ndarray, Ragged or list
        Batch of this process.
    device : jax.Device, optional
        Device of the arrays; by default JAX's default device.
    sharding : jax.sharding.Sharding, optional
        Sharding of the global arrays; cannot be combined with `device`. The first dimension of a global array contains
        the batches of all processes.

    Returns
    -------
    dict
        Numeric arrays as `jax.Array`; 64-bit numbers become 32-bit numbers unless ``jax_enable_x64`` is set. A `Ragged`
        becomes a `RaggedArray`. Byte strings become lists of `bytes`. Values that JAX does not support are unchanged.

    Raises
    ------
    FeatureError
        If an integer does not fit into 32 bits, if the sharding does not fit the shape of a feature, or if a `Ragged`
        is combined with a sharding.
    MissingExtraError
        If JAX is not installed.
    TypeError
        If `device` or `sharding` has the wrong type.
    ValueError
        If both `device` and `sharding` are given.
    """
    check_placement(device, sharding)
    return ArrayConverter(device, sharding).convert_batch(batch)


def check_placement(device: Any, sharding: Any) -> None:
    """Raise TypeError or ValueError if the device or the sharding is invalid, or if both are given."""
    if device is not None and sharding is not None:
        raise ValueError("device= cannot be combined with sharding=")
    with require_extra("jax"):
        import jax
    if device is not None and not isinstance(device, jax.Device):
        raise TypeError(
            f"device must be one of jax.devices(), got {device!r}; use sharding= to divide arrays among several devices"
        )
    if sharding is not None and not isinstance(sharding, jax.sharding.Sharding):
        example = 'jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("data"))'
        raise TypeError(f"sharding must be a jax.sharding.Sharding, such as {example}, got {sharding!r}")


class ArrayConverter:
    """Converts features of batches to JAX arrays.

    Parameters
    ----------
    device : jax.Device or None
    sharding : jax.sharding.Sharding or None
    world_size : int
        Number of ranks; each has its own rows of a global array.
    """

    def __init__(self, device: Any, sharding: Any, world_size: int = 1) -> None:
        with require_extra("jax"):
            import jax
        self._keeps_64_bits = bool(jax.config.jax_enable_x64)
        self._sharding, self._world_size = sharding, world_size
        self._put: Callable[[NDArray[Any]], Any] = lambda array: jax.device_put(array, device)
        if sharding is not None:
            self._put = lambda array: jax.make_array_from_process_local_data(sharding, array)

    def convert_batch(self, batch: dict[str, Any]) -> dict[str, Any]:
        """Convert all features of a batch (see `arrays`)."""
        return {name: self._convert_feature(name, value) for name, value in batch.items()}

    def _convert_feature(self, name: str, value: Any) -> Any:
        if isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "biufc":
            return self._convert_array(name, np.asarray(value))
        if isinstance(value, rm.Ragged):
            return self._convert_ragged(name, value)
        if isinstance(value, list | tuple) and not any(isinstance(inner, bytes | str) for inner in value[:1]):
            return [self._convert_feature(name, inner) for inner in value]
        return value

    def _convert_array(self, name: str, array: NDArray[Any]) -> Any:
        local = array if self._keeps_64_bits else _narrow_to_32_bits(name, array)
        try:
            result = self._put(local)
        except ValueError as error:
            if self._sharding is None:
                raise
            message = f"feature {name!r} of shape {array.shape} does not fit the sharding {self._sharding}: {error}"
            raise rm.FeatureError(message, kind="feature_mismatch", hint=self._create_sharding_hint(array)) from error
        if self._sharding is not None and len(array) and len(result) < len(array) * self._world_size:
            raise self._create_replication_error(name, len(array), result)
        return result

    def _create_sharding_hint(self, array: NDArray[Any]) -> str:
        if array.ndim < len(getattr(self._sharding, "spec", ())):
            return "shard only the first dimension, which all features have, and reshard individual arrays afterwards"
        return (
            'use a batch size that is divisible by the number of devices: batch(n, last="drop") or batch(n, last="pad")'
        )

    def _create_replication_error(self, name: str, num_rows: int, result: Any) -> ValueError:
        """Return the error for a sharding that needs equal batches in several processes that load different batches."""
        first = min(shard.index[0].start or 0 for shard in result.addressable_shards)
        return ValueError(
            f"{self._world_size} processes with {num_rows} rows each produced only {len(result)} rows of feature "
            f"{name!r}, because {self._sharding} replicates rows across processes that load different batches. Shard "
            "the first dimension over all processes, or pass the same rank to processes with the same rows: here "
            f"rank={first // num_rows}, world_size={len(result) // num_rows}"
        )

    def _convert_ragged(self, name: str, ragged: rm.Ragged) -> Any:
        if contains_bytes(ragged):
            return ragged.to_list()
        if self._sharding is not None:
            raise rm.FeatureError(
                f"feature {name!r} has rows of different lengths, which cannot be sharded",
                kind="feature_mismatch",
                hint='pad the rows: batch(n, ragged="pad")',
            )
        return RaggedArray(self._convert_feature(name, ragged.data), self._convert_array(name, ragged.row_splits))


def _narrow_to_32_bits(name: str, array: NDArray[Any]) -> NDArray[Any]:
    """Convert 64-bit numbers to 32 bits; raise FeatureError if an integer does not fit."""
    dtype = _NARROW_DTYPES.get(array.dtype.name)
    if dtype is None:
        return array
    if array.dtype.kind in "iu" and array.size:
        limits = np.iinfo(dtype)
        if array.min() < limits.min or array.max() > limits.max:
            raise rm.FeatureError(
                f"feature {name!r} contains integers that do not fit into 32 bits, the default of JAX",
                kind="feature_mismatch",
                hint='call jax.config.update("jax_enable_x64", True), or remove the feature with map()',
            )
    return array.astype(dtype)
