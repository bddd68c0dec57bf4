"""Elements of a pipeline as arrays of JAX, on a device or spread over many."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import recordmill as rm
from recordmill.adapters.frameworks import extra

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
    """
    if device is not None and sharding is not None:
        raise ValueError("arrays go to a device or are sharded, not both")
    with extra("jax"):
        import jax
    place = _Place(jax, device, sharding)
    return {name: place.value(name, value) for name, value in batch.items()}


class _Place:
    """Where arrays go.

    Parameters
    ----------
    jax : module
    device : jax.Device or None
    sharding : jax.sharding.Sharding or None
    """

    def __init__(self, jax: Any, device: Any, sharding: Any) -> None:
        self._keeps_wide = bool(jax.config.jax_enable_x64)
        self._sharding = sharding
        self._put: Callable[[NDArray[Any]], Any] = lambda array: jax.device_put(array, device)
        if sharding is not None:
            self._put = lambda array: jax.make_array_from_process_local_data(sharding, array)

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
            return self._put(fitting)
        except ValueError as error:
            if self._sharding is None:
                raise
            hint = 'make all batches one size that the devices divide: batch(n, last="drop") or batch(n, last="pad")'
            message = f"feature {name!r} of shape {array.shape} cannot be sharded as {self._sharding}: {error}"
            raise rm.FeatureError(message, kind="feature_mismatch", hint=hint) from error

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
