"""Samples as Arrow tables, Arrow record batches and pandas data frames."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from recordmill.errors import FeatureError, LimitError, MissingExtraError
from recordmill.pipeline.checks import check_integer
from recordmill.pipeline.samples import Columns, Positions, build_column, concatenate_column
from recordmill.pipeline.stages.base import Context
from recordmill.pipeline.stages.batch import Batch, convert_tensors
from recordmill.pipeline.stages.padding import Locate
from recordmill.types import Ragged

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from recordmill.pipeline.dataset import Dataset

_MAX_OFFSET = 2**31 - 1  # Arrow's lists and byte strings have 32-bit offsets, so larger columns are split.
_BATCH_SIZE = 1024  # Batch size for datasets whose length is unknown.


class _UncollatedBatch(Batch):
    """Batch stage that returns the columns of the samples without collating them."""

    __slots__ = ()

    def collate(
        self,
        columns: Columns,
        count: int,  # noqa: ARG002 (an argument of `Batch.collate`)
        ordinals: NDArray[np.int64] | None = None,  # noqa: ARG002
        locate: Locate = lambda _: {},  # noqa: ARG002
    ) -> Columns:
        """Return the columns unchanged."""
        return columns


def read_table(dataset: Dataset) -> pa.Table:
    """Read all samples of epoch 0 as a table."""
    converter = create_converter(dataset, "to_arrow")
    if not dataset.pipeline.has_filter:
        return converter.build_table(dataset.to_numpy())
    batches = list(iterate_record_batches(dataset, _BATCH_SIZE))
    if batches:
        return converter.arrow.Table.from_batches(batches)
    return converter.build_table(dataset.pipeline.evaluate(Positions(0, range(0)), Context()).columns)


def iterate_record_batches(dataset: Dataset, batch_size: int) -> Iterator[pa.RecordBatch]:
    """Return an iterator over the samples of epoch 0 as record batches; the arguments are checked immediately."""
    converter = create_converter(dataset, "iter_arrow")
    size = check_integer(batch_size, "batch_size must be a positive integer", 1)
    return _yield_record_batches(dataset, converter, size)


def _yield_record_batches(dataset: Dataset, converter: Converter, size: int) -> Iterator[pa.RecordBatch]:
    if dataset.pipeline.length == 0:
        return
    schema = None
    with (
        dataset.add_stage(_UncollatedBatch(size)).loader(rank=0, world_size=1) as loader,
        closing(iter(loader)) as elements,  # type: ignore[type-var]
    ):
        for columns in elements:
            table = converter.build_table(columns)
            schema = table.schema if schema is None else schema
            yield from _cast_table(converter.arrow, table, schema).to_batches()


def read_frame(dataset: Dataset) -> pd.DataFrame:
    """Read all samples of epoch 0 as a data frame."""
    _check_unbatched(dataset, "to_pandas")
    try:
        import pandas as pd
    except ImportError:
        raise _missing_extra("to_pandas()", "pandas") from None
    optional = _find_features(dataset, lambda feature: feature.optional)
    columns = {
        name: _to_series(pd, column, is_optional=name in optional) for name, column in dataset.to_numpy().items()
    }
    return pd.DataFrame(columns, copy=False)


def _to_series(pd: Any, column: Any, *, is_optional: bool) -> Any:
    """Convert a column to a series: one-dimensional arrays without a copy, other columns as Python objects."""
    if isinstance(column, np.ndarray) and column.ndim == 1:
        return pd.Series(column, copy=False)
    rows = np.empty(len(column), object)
    for number, row in enumerate(column):
        rows[number] = None if is_optional and hasattr(row, "__len__") and len(row) == 0 else row
    return pd.Series(rows, copy=False)


def _check_unbatched(dataset: Dataset, method: str) -> None:
    if dataset.batch_stage is not None:
        raise ValueError(
            f"{method}() cannot be combined with batch; remove batch, and use iter_arrow(batch_size) "
            "if the samples do not fit into memory"
        )


def _missing_extra(method: str, package: str) -> MissingExtraError:
    return MissingExtraError(f"{method} needs {package}", hint="pip install 'recordmill[arrow]'")


def create_converter(dataset: Dataset, method: str) -> Converter:
    """Return the converter for the columns of a dataset. Error messages contain the name `method`."""
    _check_unbatched(dataset, method)
    try:
        import pyarrow
    except ImportError:
        raise _missing_extra(f"{method}()", "pyarrow") from None
    classes = getattr(dataset, "classes", None)
    return Converter(
        pyarrow,
        _find_features(dataset, lambda feature: feature.shape[:1] == (None,)),
        _find_features(dataset, lambda feature: feature.optional),
        {"classes": json.dumps(classes, ensure_ascii=False)} if classes else None,
    )


def _find_features(dataset: Dataset, condition: Any) -> set[str]:
    """Return the names of the features for which a condition is true in at least one source."""
    sources = dataset.origin.sources
    return {name for source in sources for name, feature in source.schema.items() if condition(feature)}


def _cast_table(arrow: Any, table: pa.Table, schema: pa.Schema) -> pa.Table:
    """Cast a table to the schema of the first table.

    The types can differ, because rows become fixed-size lists only in batches where all rows have the same length.
    """
    if table.schema == schema:
        return table
    if table.column_names != schema.names:
        raise FeatureError("samples with different features cannot be combined", kind="feature_mismatch")
    columns = []
    for field, column in zip(schema, table.columns, strict=True):
        try:
            columns.append(column.cast(field.type))
        except (arrow.ArrowInvalid, arrow.ArrowNotImplementedError):
            raise FeatureError(
                f"the type of feature {field.name!r} differs from its type in the first record batch",
                feature=field.name,
                kind="feature_mismatch",
                expected=str(field.type),
                found=str(column.type),
                hint="use a larger batch_size, or to_arrow(), so that the type is chosen from more samples",
            ) from None
    return arrow.Table.from_arrays(columns, schema=schema)


@dataclass(frozen=True, eq=False, slots=True)
class Converter:
    """Converts columns to Arrow arrays.

    Parameters
    ----------
    arrow : module
        The module ``pyarrow``.
    variable : collection of str
        Features whose number of values varies. They become lists even if all samples of a table have equally many
        values.
    optional : collection of str
        Optional features, which become null in records without values.
    metadata : mapping of str to str, optional
        Metadata of the schema.
    """

    arrow: Any
    variable: Collection[str]
    optional: Collection[str]
    metadata: Mapping[str, str] | None

    def build_table(self, columns: Columns) -> pa.Table:
        """Convert columns to a table."""
        chunked = {name: self._convert_feature(name, column) for name, column in columns.items()}
        table: pa.Table = self.arrow.table(chunked, metadata=self.metadata)
        return table

    def _convert_feature(self, name: str, column: Any) -> Any:
        is_variable, is_optional = name in self.variable, name in self.optional
        if isinstance(column, list):
            column = build_column(convert_tensors(column))
        if is_variable and isinstance(column, np.ndarray) and column.ndim > 1:
            column = Ragged(column.reshape(-1, *column.shape[2:]), np.arange(len(column) + 1) * column.shape[1])
        chunks = []
        for part in _split_column(name, column):
            try:
                chunks.append(self._convert_chunk(part, is_optional=is_optional))
            except (self.arrow.ArrowInvalid, self.arrow.ArrowNotImplementedError, self.arrow.ArrowTypeError) as error:
                raise FeatureError(
                    f"feature {name!r} cannot be converted to Arrow: {error}",
                    feature=name,
                    kind="feature_mismatch",
                    hint="use map to convert it to numbers, strings, or arrays of a dtype that Arrow supports",
                ) from error
        return self.arrow.chunked_array(chunks)

    def _convert_chunk(self, column: Any, *, is_optional: bool = False) -> Any:
        """Convert one chunk of a column to an Arrow array."""
        if isinstance(column, Ragged):
            return self._convert_ragged(column, np.diff(column.row_splits) == 0 if is_optional else None)
        if isinstance(column, np.ndarray):
            return self._convert_array(column)
        return self._convert_list(column, is_optional=is_optional)

    def _convert_array(self, column: NDArray[Any]) -> Any:
        """Convert an array without copying numbers. Axes after the first become lists of fixed size."""
        if 0 in column.shape[1:]:
            return self._build_nested_lists([*column], column.ndim - 1, column.dtype, None)
        values = self._convert_flat_array(column.reshape(-1))
        for size in reversed(column.shape[1:]):
            values = self.arrow.FixedSizeListArray.from_arrays(values, size)
        return values

    def _convert_flat_array(self, values: NDArray[Any]) -> Any:
        if values.dtype.kind in "OUS":
            return self.arrow.array(values.tolist())
        return self.arrow.array(np.ascontiguousarray(values, values.dtype.newbyteorder("=")))

    def _convert_ragged(self, column: Ragged, is_null: NDArray[np.bool_] | None) -> Any:
        offsets = self.arrow.array(column.row_splits.astype(np.int32))
        data = column.data
        if isinstance(data, np.ndarray) and data.dtype == np.uint8 and data.ndim == 1:
            buffers = [None, offsets.buffers()[1], self.arrow.py_buffer(np.ascontiguousarray(data))]
            return self.arrow.Array.from_buffers(self.arrow.binary(), len(column), buffers)
        return self._build_list(offsets, self._convert_chunk(data), is_null)

    def _build_list(self, offsets: Any, values: Any, is_null: NDArray[np.bool_] | None) -> Any:
        mask = None if is_null is None or not is_null.any() else self.arrow.array(is_null)
        return self.arrow.ListArray.from_arrays(offsets, values, mask=mask)

    def _convert_list(self, rows: Sequence[Any], *, is_optional: bool) -> Any:
        forms = {(row.dtype, row.ndim) if isinstance(row, np.ndarray) else type(row) for row in rows}
        form = forms.pop() if len(forms) == 1 else None
        if isinstance(form, tuple) and form[1] and form[0].kind not in "OUS":
            is_null = np.array([len(row) == 0 for row in rows]) if is_optional else None
            return self._build_nested_lists(rows, form[1], form[0], is_null)
        if form is Ragged:
            column = Ragged(concatenate_column("", [*rows]), np.cumsum([0, *map(len, rows)], dtype=np.int64))
            return self._convert_chunk(column, is_optional=is_optional)
        return self.arrow.array([_to_python(row) for row in rows])

    def _build_nested_lists(
        self, rows: Sequence[NDArray[Any]], ndim: int, dtype: np.dtype[Any], is_null: NDArray[np.bool_] | None
    ) -> Any:
        """Convert arrays of different shapes to nested lists, with one level per axis."""
        shapes = np.array([row.shape for row in rows], np.int64).reshape(len(rows), ndim)
        flat = [row.reshape(-1) for row in rows] or [np.empty(0, dtype)]
        values = self._convert_flat_array(np.concatenate(flat))
        for axis in reversed(range(ndim)):
            counts = np.repeat(shapes[:, axis], shapes[:, :axis].prod(axis=1))
            offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
            values = self._build_list(self.arrow.array(offsets), values, is_null if axis == 0 else None)
        return values


def _to_python(value: Any) -> Any:
    """Convert arrays and Raggeds to lists of Python objects."""
    if isinstance(value, Ragged):
        return value.to_list()
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


def _split_column(name: str, column: Any) -> list[Any]:
    """Split a column into parts whose values can be addressed with 32-bit offsets."""
    if isinstance(column, np.ndarray) or _count_values(column) <= _MAX_OFFSET:
        return [column]
    if len(column) == 1:
        raise LimitError(f"feature {name!r} has more than {_MAX_OFFSET:,} values in one sample", kind="limit_exceeded")
    middle = len(column) // 2
    return [*_split_column(name, column[:middle]), *_split_column(name, column[middle:])]


def _count_values(column: Any) -> int:
    if isinstance(column, Ragged):
        return max(int(column.row_splits[-1]), _count_values(column.data))
    if isinstance(column, np.ndarray):
        return 0
    return sum(row.size if isinstance(row, np.ndarray) else len(row) for row in column if hasattr(row, "__len__"))
