"""Tables of the numbers of words, with places for words that are not there."""

from __future__ import annotations

from typing import Any

import numpy as np

from recordmill.compat.hashing import farm
from recordmill.compat.tensorflow.core.dtypes import as_dtype, int64, string
from recordmill.compat.tensorflow.core.tensor import Tensor, as_tensor
from recordmill.compat.tensorflow.lookup.initializers import KeyValueTensorInitializer
from recordmill.compat.tensorflow.lookup.static import StaticHashTable


class StaticVocabularyTable(StaticHashTable):
    """Table of the numbers of words; words that are not there have a number behind those of the others."""

    def __init__(
        self,
        initializer: Any,
        num_oov_buckets: int,
        lookup_key_dtype: Any = None,
        name: Any = None,
        experimental_is_anonymous: bool = False,
    ) -> None:
        del name, experimental_is_anonymous
        if num_oov_buckets <= 0:
            raise ValueError("`num_oov_buckets` must be > 0; use StaticHashTable.")
        if initializer is None:
            initializer = KeyValueTensorInitializer(
                [], [], string if lookup_key_dtype is None else lookup_key_dtype, int64
            )
        super().__init__(initializer, -1)
        if self.value_dtype != int64:
            raise TypeError(f"Invalid `value_dtype`, expected {int64!r} but got {self.value_dtype!r}.")
        if lookup_key_dtype is not None:
            self.key_dtype = as_dtype(lookup_key_dtype)
        if self.key_dtype != string and not self.key_dtype.is_integer:
            raise TypeError(f"Invalid `key_dtype`, expected integer or string, but got {self.key_dtype!r}.")
        self._buckets = num_oov_buckets

    def size(self, name: Any = None) -> Tensor:
        """Return the number of keys, with those of unknown words."""
        return as_tensor(int(super().size(name)) + self._buckets, int64)

    def found(self, keys: list[Any]) -> list[Any]:
        """Numbers of words."""
        unknown = [key for key in dict.fromkeys(keys) if key not in self._known]
        texts = [key if isinstance(key, bytes) else str(key).encode() for key in unknown]
        places = (farm.fingerprints(texts) % np.uint64(self._buckets)).tolist()
        others = {key: len(self._known) + place for key, place in zip(unknown, places, strict=True)}
        return [self._known[key] if key in self._known else others[key] for key in keys]
