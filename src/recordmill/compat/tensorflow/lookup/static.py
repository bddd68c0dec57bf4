"""Tables that do not change."""

from __future__ import annotations

from typing import Any

import numpy as np

from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.dtypes import as_dtype, int64
from recordmill.compat.tensorflow.core.errors import FailedPreconditionError
from recordmill.compat.tensorflow.core.tensor import Tensor, as_tensor
from recordmill.compat.tensorflow.lookup.initializers import KeyValueTensorInitializer


class StaticHashTable:
    """Table that does not change."""

    def __init__(
        self, initializer: Any, default_value: Any, name: Any = None, experimental_is_anonymous: bool = False
    ) -> None:
        del name, experimental_is_anonymous
        if not isinstance(initializer, KeyValueTensorInitializer):
            raise NotImplementedError(
                f"tf.lookup: {type(initializer).__name__} is not supported as an initializer, only "
                "KeyValueTensorInitializer"
            )
        self.key_dtype, self.value_dtype = initializer.key_dtype, initializer.value_dtype
        self._default = array_of(default_value, self.value_dtype)[()]
        self._known: dict[Any, Any] = {}
        for key, value in zip(initializer.keys.tolist(), initializer.values.tolist(), strict=True):
            if self._known.setdefault(key, value) != value:
                raise FailedPreconditionError(f"HashTable has different value for same key. Key {key} has {value}")

    def lookup(self, keys: Any, name: Any = None) -> Tensor:
        """Values of keys."""
        del name
        return find(self, keys)

    def size(self, name: Any = None) -> Tensor:
        """Return the number of keys."""
        del name
        return as_tensor(len(self._known), int64)

    def __getitem__(self, keys: Any) -> Tensor:
        """Values of keys."""
        return self.lookup(keys)

    def export(self, name: Any = None) -> tuple[Tensor, Tensor]:
        """Return keys and values."""
        del name
        known = [np.empty(len(self._known), one.numpy_dtype) for one in (self.key_dtype, self.value_dtype)]
        known[0][:], known[1][:] = list(self._known), list(self._known.values())
        return Tensor(known[0]), Tensor(known[1])

    @property
    def default_value(self) -> Tensor:
        """What stands for keys that are not there."""
        return as_tensor(self._default, self.value_dtype)

    def found(self, keys: list[Any]) -> list[Any]:
        """Values of keys."""
        return [self._known.get(key, self._default) for key in keys]


@op("lookup.find")
def find(table: StaticHashTable, keys: Any) -> Tensor:
    """Values of keys in a table."""
    array = array_of(keys)
    if as_dtype(array.dtype) != table.key_dtype:
        raise TypeError(f"Dtype of argument `keys` must be {table.key_dtype}, received: {as_dtype(array.dtype)}")
    values = np.empty(array.size, table.value_dtype.numpy_dtype)
    values[:] = table.found(array.reshape(-1).tolist())
    return Tensor(values.reshape(array.shape))
