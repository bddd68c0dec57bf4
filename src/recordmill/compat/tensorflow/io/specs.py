"""Features that are asked for, checked once: the columns that the parser brings for them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

import recordmill as rm
from recordmill.compat.tensorflow.core import dtypes
from recordmill.compat.tensorflow.core.dtypes import DType
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.shapes import TensorShape
from recordmill.compat.tensorflow.core.tensor import array_of
from recordmill.compat.tensorflow.io.features import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    RaggedFeature,
    SparseFeature,
    UniformRowLength,
    VarLenFeature,
)
from recordmill.dataclass import dataclass

Form = Literal["fixed", "padded", "sparse", "ragged"]
KINDS = {"string": "bytes", "float32": "float32", "int64": "int64"}
_ATTRIBUTES = {"fixed": "Tdense", "padded": "Tdense", "sparse": "sparse_types", "ragged": "ragged_value_types"}
# As messages of TensorFlow's operations spell dtypes.
NAMES = {"string": "string", "float32": "float", "int64": "int64"}


@dataclass(frozen=True, slots=True)
class Column:
    """One feature of the records."""

    key: str
    form: Form
    dtype: DType
    shape: tuple[int, ...] = ()
    default: NDArray[Any] | None = None
    allow_missing: bool = True
    splits_dtype: DType = dtypes.int32

    @property
    def count(self) -> int:
        """Values of the shape."""
        return math.prod(self.shape)

    @property
    def kind(self) -> Any:
        """What the library calls the dtype."""
        return KINDS[self.dtype.name]


class Spec:
    """Columns by key, and the features that are put together of several of them."""

    def __init__(self, features: Mapping[str, Any], allowed: tuple[type, ...]) -> None:
        self.features = dict(sorted(features.items()))
        self.sparse: dict[str, Column] = {}
        self.dense: dict[str, Column] = {}
        self.ragged: dict[str, Column] = {}
        for key, feature in self.features.items():
            if not isinstance(feature, allowed):
                raise ValueError(  # noqa: TRY004 (TensorFlow's class)
                    f"Unsupported {type(feature).__name__} {feature} for key '{key}'"
                )
            self._add(key, feature)
        self._check_apart()
        for column in self.columns:
            if column.dtype.name not in KINDS:
                raise InvalidArgumentError(
                    f"Value for attr '{_ATTRIBUTES[column.form]}' of {column.dtype.name} is not in the list of allowed "
                    f"values: float, int64, string (feature {column.key!r})"
                )

        self.schema = schema_of(self.columns)

    @property
    def columns(self) -> list[Column]:
        """All columns, in the order of TensorFlow's results."""
        return [*self.sparse.values(), *self.dense.values(), *self.ragged.values()]

    @property
    def names(self) -> list[str]:
        """Names of all features, in the order of TensorFlow's results."""
        own = [column.key for column in self.columns if column.key in self.features]
        return [*own, *(name for name in self.features if name not in {*own})]

    @property
    def is_composed(self) -> bool:
        """Whether features are put together of several columns."""
        return any(isinstance(feature, SparseFeature | RaggedFeature) for feature in self.features.values())

    def _add(self, key: str, feature: Any) -> None:
        if isinstance(feature, VarLenFeature):
            self._add_sparse(key, _dtype(key, feature))
        elif isinstance(feature, SparseFeature):
            self._add_indexed(key, feature)
        elif isinstance(feature, RaggedFeature):
            self._add_ragged(key, feature)
        elif isinstance(feature, FixedLenFeature):
            self.dense[key] = _fixed(key, feature)
        else:
            self.dense[key] = _padded(key, feature)

    def _add_sparse(self, key: str, dtype: DType) -> None:
        column = self.sparse.setdefault(key, Column(key, "sparse", dtype))
        if column.dtype != dtype:
            raise ValueError(f"Conflicting type {column.dtype} vs {dtype} for feature {key}.")

    def _add_indexed(self, key: str, feature: SparseFeature) -> None:
        for part in ("index_key", "value_key"):
            if not getattr(feature, part):
                raise ValueError(f"Missing {part} for SparseFeature {feature}.")
        dtype = _dtype(key, feature)
        is_one = isinstance(feature.index_key, str)
        if is_one == isinstance(feature.size, list | tuple):
            expected = "a Tensor or Python int" if is_one else "a list of Tensors or Python ints"
            raise TypeError(f"vocab_size has to be {expected}. Found {type(feature.size)}")
        if not is_one and len(feature.index_key) != len(feature.size):
            raise ValueError("sp_ids and vocab_size have to have equal lengths.")
        for index_key in [feature.index_key] if is_one else sorted(feature.index_key):
            self._add_sparse(index_key, dtypes.int64)
        self._add_sparse(feature.value_key, dtype)

    def _add_ragged(self, key: str, feature: RaggedFeature) -> None:
        wanted = [(feature.value_key or key, feature.dtype)]
        wanted += [(part.key, dtypes.int64) for part in feature.partitions if not isinstance(part, UniformRowLength)]
        for name, dtype in wanted:
            fresh = Column(name, "ragged", dtype, splits_dtype=feature.row_splits_dtype)
            column = self.ragged.setdefault(name, fresh)
            if column.dtype != dtype:
                raise ValueError(f"Conflicting type {column.dtype} vs {dtype} for feature {name}.")
            if column.splits_dtype != fresh.splits_dtype:
                types = f"{column.splits_dtype} vs {fresh.splits_dtype}"
                raise ValueError(f"Conflicting partition type {types} for feature {name}.")

    def _check_apart(self) -> None:
        groups = (("dense", self.dense), ("sparse", self.sparse), ("ragged", self.ragged))
        for (first, mine), (second, theirs) in ((groups[0], groups[1]), (groups[0], groups[2]), (groups[2], groups[1])):
            if both := set(mine) & set(theirs):
                raise ValueError(
                    f"{first.capitalize()} and {second} keys must not intersect; {first}_keys: {list(mine)}, "
                    f"{second}_keys: {list(theirs)}, intersection: {both}"
                )


def _dtype(key: str, feature: Any) -> DType:
    if not feature.dtype:
        raise ValueError(f"Missing type for feature {key}. Received feature={feature}.")
    return dtypes.as_dtype(feature.dtype)


def _shape(key: str, feature: Any) -> tuple[int, ...]:
    if feature.shape is None:
        raise ValueError(f"Missing shape for feature {key}. Received feature={feature}.")
    shape = TensorShape(feature.shape)
    lengths = shape.as_list()
    if isinstance(feature, FixedLenFeature) and lengths and lengths[0] is None:
        raise ValueError(
            f"First dimension of shape for feature {key} unknown. Consider using FixedLenSequenceFeature. "
            f"Received feature={feature}."
        )
    if not shape.is_fully_defined():
        raise ValueError(f"All dimensions of shape for feature {key} need to be known but received {feature.shape!s}.")
    return tuple(length for length in lengths if length is not None)


def _default(feature: Any, dtype: DType, shape: tuple[int, ...]) -> NDArray[Any] | None:
    if feature.default_value is None:
        return None
    # No values at all are no default, even of a shape that has none.
    if not np.size(feature.default_value) and not math.prod(shape):
        return None
    values = array_of(feature.default_value, dtype)
    if values.size != math.prod(shape):
        raise InvalidArgumentError(
            f"Input to reshape is a tensor with {values.size} values, but the requested shape has {math.prod(shape)}"
        )
    return values.reshape(shape)


def _fixed(key: str, feature: FixedLenFeature) -> Column:
    dtype, shape = _dtype(key, feature), _shape(key, feature)
    return Column(key, "fixed", dtype, shape, _default(feature, dtype, shape), allow_missing=False)


def _padded(key: str, feature: FixedLenSequenceFeature) -> Column:
    dtype, shape = _dtype(key, feature), _shape(key, feature)
    default = _default(feature, dtype, ())
    if default is None:
        default = np.zeros((), dtype.numpy_dtype) if dtype.is_numeric else array_of(b"")
    return Column(key, "padded", dtype, shape, default, bool(feature.allow_missing))


def schema_of(columns: list[Column]) -> rm.Schema:
    """What the library's parser is asked for the columns of an ``Example``."""
    return rm.Schema({column.key: _feature(column) for column in columns})


def _feature(column: Column) -> rm.Feature:
    if column.form != "fixed":
        return rm.Feature(column.kind, (None,), optional=True)
    default: Any = column.default
    if default is not None and column.kind == "bytes":
        default = default.ravel().tolist() if column.shape else default[()]
    return rm.Feature(column.kind, column.shape, default=default)
