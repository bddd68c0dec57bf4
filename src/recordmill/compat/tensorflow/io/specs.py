"""Convert TensorFlow's feature specifications to the columns and schemas of recordmill's parser."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
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

Form = Literal["fixed", "padded", "sparse", "ragged"]
_KINDS = {"string": "bytes", "float32": "float32", "int64": "int64"}
# Cache that maps features to their `ParsingSpec`. The cache is small, because programs parse few sets of features.
_CACHE: dict[Any, ParsingSpec] = {}
_MAX_CACHED = 64


@dataclass(frozen=True, slots=True)
class FeatureColumn:
    """Feature to parse, and the form of the resulting tensor: fixed, padded, sparse or ragged."""

    key: str
    form: Form
    dtype: DType
    shape: tuple[int, ...] = ()
    default: NDArray[Any] | None = None
    allow_missing: bool = True
    splits_dtype: DType = dtypes.int32

    @property
    def num_values(self) -> int:
        """Number of values in an array of shape `shape`."""
        return math.prod(self.shape)

    @property
    def feature_dtype(self) -> Any:
        """Dtype of the values for `rm.Feature`: bytes, float32 or int64."""
        return _KINDS[self.dtype.name]


class ParsingSpec:
    """Validated feature specifications: the columns to parse, and the features that combine several columns."""

    def __init__(self, features: Mapping[str, Any], allowed: tuple[type, ...]) -> None:
        self.features = dict(sorted(features.items()))
        self.sparse: dict[str, FeatureColumn] = {}
        self.dense: dict[str, FeatureColumn] = {}
        self.ragged: dict[str, FeatureColumn] = {}
        for key, feature in self.features.items():
            if not isinstance(feature, allowed):
                raise ValueError(  # noqa: TRY004 (TensorFlow's class)
                    f"Unsupported {type(feature).__name__} {feature} for key '{key}'"
                )
            self._add_feature(key, feature)
        for first, second in ((self.dense, self.sparse), (self.dense, self.ragged), (self.ragged, self.sparse)):
            if both := set(first) & set(second):
                raise ValueError(f"features must be dense, sparse or ragged, got more than one kind for {sorted(both)}")
        for column in self.columns:
            if column.dtype.name not in _KINDS:
                raise InvalidArgumentError(
                    f"dtype of feature {column.key!r} must be float32, int64 or string, got {column.dtype.name}"
                )
        self.schema = rm.Schema({column.key: _create_schema_feature(column) for column in self.columns})
        self.list_schema = rm.Schema({column.key: _create_schema_feature_list(column) for column in self.columns})

    @property
    def columns(self) -> list[FeatureColumn]:
        """All columns, in the order of TensorFlow's results."""
        return [*self.sparse.values(), *self.dense.values(), *self.ragged.values()]

    @property
    def names(self) -> list[str]:
        """Names of all features, in the order of TensorFlow's results."""
        own = [column.key for column in self.columns if column.key in self.features]
        return [*own, *(name for name in self.features if name not in {*own})]

    @property
    def has_composed_features(self) -> bool:
        """Whether some features combine several columns."""
        return any(isinstance(feature, SparseFeature | RaggedFeature) for feature in self.features.values())

    def _add_feature(self, key: str, feature: Any) -> None:
        if isinstance(feature, VarLenFeature):
            self._add_sparse_column(key, _require_dtype(key, feature))
        elif isinstance(feature, SparseFeature):
            self._add_sparse_feature(key, feature)
        elif isinstance(feature, RaggedFeature):
            self._add_ragged_feature(key, feature)
        elif isinstance(feature, FixedLenFeature):
            self.dense[key] = _create_fixed_column(key, feature)
        else:
            self.dense[key] = _create_padded_column(key, feature)

    def _add_sparse_column(self, key: str, dtype: DType) -> None:
        column = self.sparse.setdefault(key, FeatureColumn(key, "sparse", dtype))
        if column.dtype != dtype:
            raise ValueError(f"Conflicting type {column.dtype} vs {dtype} for feature {key}.")

    def _add_sparse_feature(self, key: str, feature: SparseFeature) -> None:
        if not feature.index_key or not feature.value_key:
            raise ValueError(f"Missing index_key or value_key for SparseFeature {feature}.")
        dtype = _require_dtype(key, feature)
        has_one_axis = isinstance(feature.index_key, str)
        if has_one_axis == isinstance(feature.size, list | tuple):
            raise TypeError(f"size must be {'an int' if has_one_axis else 'a list of ints'}, got {feature.size!r}")
        if not has_one_axis and len(feature.index_key) != len(feature.size):
            raise ValueError("index_key and size of a SparseFeature must have the same length")
        for index_key in [feature.index_key] if has_one_axis else sorted(feature.index_key):
            self._add_sparse_column(index_key, dtypes.int64)
        self._add_sparse_column(feature.value_key, dtype)

    def _add_ragged_feature(self, key: str, feature: RaggedFeature) -> None:
        wanted = [(feature.value_key or key, feature.dtype)]
        wanted += [(part.key, dtypes.int64) for part in feature.partitions if not isinstance(part, UniformRowLength)]
        for name, dtype in wanted:
            splits_dtype = feature.row_splits_dtype
            column = self.ragged.setdefault(name, FeatureColumn(name, "ragged", dtype, splits_dtype=splits_dtype))
            if (column.dtype, column.splits_dtype) != (dtype, splits_dtype):
                raise ValueError(f"Conflicting type or row_splits_dtype for feature {name}.")


def cached_spec(features: Mapping[str, Any], allowed: tuple[type, ...]) -> ParsingSpec:
    """Return the `ParsingSpec` of `features`; equal features share one cached object."""
    try:
        key = (allowed, *((name, type(feature), *map(_to_hashable, feature)) for name, feature in features.items()))
        found = _CACHE.get(key)
    except TypeError:
        return ParsingSpec(features, allowed)
    if found is None:
        if len(_CACHE) >= _MAX_CACHED:
            _CACHE.clear()
        found = _CACHE[key] = ParsingSpec(features, allowed)
    return found


def _to_hashable(part: Any) -> Any:
    if isinstance(part, list | tuple):
        return (type(part), *map(_to_hashable, part))
    return (type(part), part)


def _require_dtype(key: str, feature: Any) -> DType:
    if not feature.dtype:
        raise ValueError(f"Missing type for feature {key}. Received feature={feature}.")
    return dtypes.as_dtype(feature.dtype)


def _require_shape(key: str, feature: Any) -> tuple[int, ...]:
    if feature.shape is None:
        raise ValueError(f"Missing shape for feature {key}. Received feature={feature}.")
    lengths = TensorShape(feature.shape).as_list()
    known = tuple(length for length in lengths if length is not None)
    if len(known) < len(lengths):
        raise ValueError(f"All dimensions of shape for feature {key} need to be known but received {feature.shape!s}.")
    return known


def _convert_default(feature: Any, dtype: DType, shape: tuple[int, ...]) -> NDArray[Any] | None:
    # An array of a shape such as (0,) is empty. An empty default value then means no default: the feature is required.
    if feature.default_value is None or not (np.size(feature.default_value) or math.prod(shape)):
        return None
    values = array_of(feature.default_value, dtype)
    if values.size != math.prod(shape):
        raise InvalidArgumentError(f"default_value must have {math.prod(shape)} values, got {values.size}")
    return values.reshape(shape)


def _create_fixed_column(key: str, feature: FixedLenFeature) -> FeatureColumn:
    dtype, shape = _require_dtype(key, feature), _require_shape(key, feature)
    return FeatureColumn(key, "fixed", dtype, shape, _convert_default(feature, dtype, shape), allow_missing=False)


def _create_padded_column(key: str, feature: FixedLenSequenceFeature) -> FeatureColumn:
    dtype, shape = _require_dtype(key, feature), _require_shape(key, feature)
    default = _convert_default(feature, dtype, ())
    if default is None:
        default = np.zeros((), dtype.numpy_dtype) if dtype.is_numeric else array_of(b"")
    return FeatureColumn(key, "padded", dtype, shape, default, bool(feature.allow_missing))


def _create_schema_feature(column: FeatureColumn) -> rm.Feature:
    """Convert a column to the `rm.Feature` for an ``Example`` or for the context of a ``SequenceExample``."""
    if column.form != "fixed":
        return rm.Feature(column.feature_dtype, (None,), optional=True)
    default: Any = column.default
    if default is not None and column.feature_dtype == "bytes":
        default = default.ravel().tolist() if column.shape else default[()]
    return rm.Feature(column.feature_dtype, column.shape, default=default)


def _create_schema_feature_list(column: FeatureColumn) -> rm.Feature:
    """Convert a column to the `rm.Feature` for the feature lists of a ``SequenceExample``."""
    shape = (None, *column.shape) if column.form == "padded" else (None, None)
    optional = column.form != "padded" or column.allow_missing
    return rm.Feature(column.feature_dtype, shape, sequence=True, optional=optional)
