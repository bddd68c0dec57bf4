"""``tf.lookup``: tables from names to numbers, and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from recordmill.compat.tensorflow.core.absent import missing
from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.dtypes import DType, as_dtype, int64, string
from recordmill.compat.tensorflow.core.errors import FailedPreconditionError, InvalidArgumentError
from recordmill.compat.tensorflow.core.tensor import Tensor, as_tensor
from recordmill.compat.tensorflow.files.whole import read_file
from recordmill.compat.tensorflow.ops.numerals import number_of

__all__ = [
    "KeyValueTensorInitializer",
    "StaticHashTable",
    "StaticVocabularyTable",
    "TextFileIndex",
    "TextFileInitializer",
]
__getattr__ = missing(__name__)


class KeyValueTensorInitializer:
    """Keys and what stands for them.

    Parameters
    ----------
    keys, values : array_like, shape (n,)
    key_dtype, value_dtype : DType, optional
    name : str, optional
        Without influence.

    Raises
    ------
    ValueError
        They are not as many.
    """

    def __init__(
        self, keys: Any, values: Any, key_dtype: Any = None, value_dtype: Any = None, name: Any = None
    ) -> None:
        del name
        self.keys, self.values = array_of(keys, key_dtype).ravel(), array_of(values, value_dtype).ravel()
        if len(self.keys) != len(self.values):
            raise ValueError(f"there are {len(self.keys)} keys and {len(self.values)} values")

    @property
    def key_dtype(self) -> DType:
        """Dtype of the keys."""
        return as_dtype(self.keys.dtype)

    @property
    def value_dtype(self) -> DType:
        """Dtype of the values."""
        return as_dtype(self.values.dtype)


class TextFileIndex:
    """Which part of a line is meant, where it is no column."""

    WHOLE_LINE = -2
    LINE_NUMBER = -1


class TextFileInitializer(KeyValueTensorInitializer):
    """Keys and values that stand in the lines of a file.

    Parameters
    ----------
    filename : str or path
    key_dtype, value_dtype : DType
    key_index, value_index : int
        A column from 0, or one of `TextFileIndex`.
    vocab_size : int, optional
        So many lines are read; all unless given.
    delimiter : str, default tab
        Between columns.
    name : str, optional
        Without influence.
    value_index_offset : int, default 0
        Added to line numbers that are values.

    Raises
    ------
    InvalidArgumentError
        A line without the column, or fewer lines than `vocab_size`.
    NotFoundError
        There is no such file.
    """

    def __init__(
        self,
        filename: Any,
        key_dtype: Any,
        key_index: int,
        value_dtype: Any,
        value_index: int,
        vocab_size: int | None = None,
        delimiter: str = "\t",
        name: Any = None,
        value_index_offset: int = 0,
    ) -> None:
        lines = read_file(filename).numpy().splitlines()
        if vocab_size is not None and len(lines) < vocab_size:
            raise InvalidArgumentError(f"Invalid vocab_size in {filename}: expected {vocab_size} but got {len(lines)}")
        self._lines, self._delimiter = lines[:vocab_size], delimiter.encode()
        values = self._parts(value_index, value_dtype)
        if value_index == TextFileIndex.LINE_NUMBER:
            values = [one + value_index_offset for one in values]
        super().__init__(self._parts(key_index, key_dtype), values, key_dtype, value_dtype, name)

    def _parts(self, index: int, dtype: Any) -> list[Any]:
        if index == TextFileIndex.LINE_NUMBER:
            return [*range(len(self._lines))]
        kind, whole = as_dtype(dtype), index == TextFileIndex.WHOLE_LINE
        found = [line if whole else self._column(line, index) for line in self._lines]
        return found if kind == string else [number_of(one, kind) for one in found]

    def _column(self, line: bytes, index: int) -> bytes:
        columns = line.split(self._delimiter)
        if not 0 <= index < len(columns):
            raise InvalidArgumentError(
                f"Invalid number of columns in {line!r}: expected at least {index + 1}, found {len(columns)}"
            )
        return columns[index]


class StaticHashTable:
    """Table that does not change.

    Parameters
    ----------
    initializer : KeyValueTensorInitializer or TextFileInitializer
    default_value : scalar
        What stands for keys that are not there.
    name, experimental_is_anonymous : optional
        Without influence.

    Raises
    ------
    FailedPreconditionError
        A key is there twice, with different values.
    NotImplementedError
        Another initializer.
    """

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
        """Values of keys.

        Parameters
        ----------
        keys : array_like
        name : str, optional
            Without influence.

        Returns
        -------
        Tensor
            Of the shape of `keys`.

        Raises
        ------
        TypeError
            Keys of another dtype.
        """
        del name
        return find(self, keys)

    def size(self, name: Any = None) -> Tensor:
        """Return the number of keys."""
        del name
        return as_tensor(len(self._known), int64)

    def __getitem__(self, keys: Any) -> Tensor:
        """Values of keys."""
        return self.lookup(keys)

    def found(self, key: Any) -> Any:
        """Value of one key.

        Parameters
        ----------
        key : int, float or bytes

        Returns
        -------
        object
        """
        return self._known.get(key, self._default)


class StaticVocabularyTable(StaticHashTable):
    """Table of the numbers of words; words that are not there have the number behind the last.

    Parameters
    ----------
    initializer : KeyValueTensorInitializer or TextFileInitializer
        Of int64 values.
    num_oov_buckets : int
        1: TensorFlow divides unknown words among more by a hash that is not there.
    lookup_key_dtype, name, experimental_is_anonymous : optional
        Without influence.

    Raises
    ------
    NotImplementedError
        More buckets.
    """

    def __init__(
        self,
        initializer: Any,
        num_oov_buckets: int,
        lookup_key_dtype: Any = None,
        name: Any = None,
        experimental_is_anonymous: bool = False,
    ) -> None:
        del lookup_key_dtype, name, experimental_is_anonymous
        if num_oov_buckets != 1:
            raise NotImplementedError(
                f"StaticVocabularyTable(num_oov_buckets={num_oov_buckets}) is not supported, only 1: the hash of more "
                "is not there"
            )
        count = len(set(getattr(initializer, "keys", np.zeros(0)).tolist()))
        super().__init__(initializer, np.int64(count))

    def size(self, name: Any = None) -> Tensor:
        """Return the number of keys, with that of unknown words."""
        return as_tensor(int(super().size(name)) + 1, int64)


@op("lookup.find")
def find(table: StaticHashTable, keys: Any) -> Tensor:
    """Values of keys in a table.

    Parameters
    ----------
    table : StaticHashTable
    keys : array_like

    Returns
    -------
    Tensor

    Raises
    ------
    TypeError
        Keys of another dtype.
    """
    array = array_of(keys)
    if as_dtype(array.dtype) != table.key_dtype:
        raise TypeError(f"Dtype of argument `keys` must be {table.key_dtype}, received: {as_dtype(array.dtype)}")
    values = np.empty(array.size, table.value_dtype.numpy_dtype)
    values[:] = [table.found(key) for key in array.reshape(-1).tolist()]
    return Tensor(values.reshape(array.shape))
