"""Tables that programs fill while they run; map functions that use one run as Python."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.dtypes import as_dtype, int64
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.tensor import Tensor, as_tensor
from recordmill.compat.tensorflow.ops.matching import bracketed


class MutableHashTable:
    """Table to which keys are added, and from which they are taken."""

    def __init__(
        self,
        key_dtype: Any,
        value_dtype: Any,
        default_value: Any,
        name: str = "MutableHashTable",
        checkpoint: bool = True,
        experimental_is_anonymous: bool = False,
    ) -> None:
        del checkpoint, experimental_is_anonymous
        self.key_dtype, self.value_dtype, self.name = as_dtype(key_dtype), as_dtype(value_dtype), name
        self._default = array_of(default_value, self.value_dtype)
        self._known: dict[Any, Any] = {}

    def lookup(self, keys: Any, dynamic_default_values: Any = None, name: Any = None) -> Tensor:
        """Values of keys; `dynamic_default_values`, one for each key, stand for those that are not there."""
        del name
        return changing_find(self, keys, dynamic_default_values)

    def __getitem__(self, keys: Any) -> Tensor:
        """Values of keys."""
        return self.lookup(keys)

    def insert(self, keys: Any, values: Any, name: Any = None) -> None:
        """Add keys, or replace their values."""
        del name
        changing_insert(self, keys, values)

    def remove(self, keys: Any, name: Any = None) -> None:
        """Take keys away, those that are there."""
        del name
        changing_remove(self, keys)

    def size(self, name: Any = None) -> Tensor:
        """Return the number of keys."""
        del name
        return changing_size(self)

    def export(self, name: Any = None) -> tuple[Tensor, Tensor]:
        """Return keys and values, in the order in which they came."""
        del name
        keys = np.empty(len(self._known), self.key_dtype.numpy_dtype)
        keys[:] = list(self._known)
        return Tensor(keys), Tensor(self._stacked(list(self._known.values()), (len(self._known),)))

    def found(self, keys: NDArray[Any], otherwise: Any) -> Tensor:
        """Values of an array of keys."""
        flat = keys.reshape(-1).tolist()
        given = self._default if otherwise is None else array_of(otherwise, self.value_dtype)
        instead = self._rows(np.broadcast_to(given, keys.shape + self._default.shape))
        rows = [self._known.get(key, other) for key, other in zip(flat, instead, strict=True)]
        return Tensor(self._stacked(rows, keys.shape))

    def put(self, keys: NDArray[Any], values: NDArray[Any]) -> None:
        """Add an array of keys."""
        if values.shape != keys.shape + self._default.shape:
            wanted = bracketed(keys.shape + self._default.shape)
            raise InvalidArgumentError(
                f"Expected shape {wanted} for value, got {bracketed(values.shape)} [Op:LookupTableInsertV2]"
            )
        self._known.update(zip(keys.reshape(-1).tolist(), self._rows(values), strict=True))

    def drop(self, keys: NDArray[Any]) -> None:
        """Take an array of keys away."""
        for key in keys.reshape(-1).tolist():
            self._known.pop(key, None)

    def _rows(self, values: NDArray[Any]) -> list[Any]:
        """Value of each key: plain ones of tables of single values, else arrays."""
        inner = self._default.shape
        return list(values.reshape(-1, *inner)) if inner else values.reshape(-1).tolist()

    def _stacked(self, rows: list[Any], shape: tuple[int, ...]) -> NDArray[Any]:
        out = np.empty((len(rows), *self._default.shape), self.value_dtype.numpy_dtype)
        for place, row in enumerate(rows):
            out[place] = row
        return out.reshape((*shape, *self._default.shape))

    def keys_of(self, keys: Any) -> NDArray[Any]:
        """Array of keys; ValueError for a tensor of another dtype."""
        return array_of(keys, self.key_dtype)

    def __len__(self) -> int:
        """Return the number of keys."""
        return len(self._known)


class DenseHashTable(MutableHashTable):
    """Table to which keys are added, two of which cannot be."""

    def __init__(
        self,
        key_dtype: Any,
        value_dtype: Any,
        default_value: Any,
        empty_key: Any,
        deleted_key: Any,
        initial_num_buckets: int | None = None,
        name: str = "MutableDenseHashTable",
        checkpoint: bool = True,
        experimental_is_anonymous: bool = False,
    ) -> None:
        del initial_num_buckets
        super().__init__(key_dtype, value_dtype, default_value, name, checkpoint, experimental_is_anonymous)
        self._refused = {
            array_of(key, self.key_dtype).item(): called
            for key, called in ((deleted_key, "deleted_key"), (empty_key, "empty_key"))
        }
        if len(self._refused) == 1:
            raise InvalidArgumentError("Empty and deleted keys cannot be equal [Op:MutableDenseHashTableV2]")

    def insert_or_assign(self, keys: Any, values: Any, name: Any = None) -> None:
        """Add keys, or replace their values."""
        self.insert(keys, values, name)

    def erase(self, keys: Any, name: Any = None) -> None:
        """Take keys away, those that are there."""
        self.remove(keys, name)

    def keys_of(self, keys: Any) -> NDArray[Any]:
        """Array of keys; InvalidArgumentError for one that cannot be."""
        array = super().keys_of(keys)
        for key in array.reshape(-1).tolist():
            if key in self._refused:
                raise InvalidArgumentError(f"Using the {self._refused[key]} as a table key is not allowed")
        return array


@op("lookup.changing_find", always=True)
def changing_find(table: MutableHashTable, keys: Any, otherwise: Any = None) -> Tensor:
    """Values of keys in a table."""
    return table.found(table.keys_of(keys), otherwise)


@op("lookup.changing_insert", always=True)
def changing_insert(table: MutableHashTable, keys: Any, values: Any) -> None:
    """Add keys to a table."""
    table.put(table.keys_of(keys), array_of(values, table.value_dtype))


@op("lookup.changing_remove", always=True)
def changing_remove(table: MutableHashTable, keys: Any) -> None:
    """Take keys out of a table."""
    table.drop(table.keys_of(keys))


@op("lookup.changing_size", always=True)
def changing_size(table: MutableHashTable) -> Tensor:
    """Count the keys of a table."""
    return as_tensor(len(table), int64)
