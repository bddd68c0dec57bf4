"""Write samples to a Parquet file with PyArrow."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from recordmill.conversion.export.samples import Sample
from recordmill.conversion.export.text import FileWriter
from recordmill.conversion.export.writers import ExportOptions
from recordmill.errors import FeatureError, MissingExtraError
from recordmill.pipeline.samples import count_bytes
from recordmill.schema import Feature
from recordmill.types import Ragged

# Maximum number of samples in a row group, and maximum size of these samples in bytes.
_GROUP_ROWS, _GROUP_BYTES = 16_384, 16 << 20
# Key in the metadata of the Parquet file. The value is a JSON array of the class names.
CLASSES_KEY = "recordmill.classes"


def import_pyarrow() -> Any:
    """Import PyArrow with its Parquet module; raise MissingExtraError if it is not installed."""
    try:
        import pyarrow as pa
        import pyarrow.parquet
    except ImportError:
        raise MissingExtraError(
            "Parquet files require PyArrow",
            kind="missing_extra",
            hint="install it with: pip install 'recordmill[arrow]'",
        ) from None
    return pa


class ParquetWriter(FileWriter):
    """Writes an export with ``to="parquet"``: one column per feature.

    Byte strings become binary values, and features with several values become lists. The class names are stored in the
    metadata of the file.

    Parameters
    ----------
    options : ExportOptions
    """

    _writes_class_names = False

    def __init__(self, options: ExportOptions) -> None:
        self._arrow = import_pyarrow()
        super().__init__(options)
        self._schema, self._classes = options.schema, options.classes
        self._rows: list[Sample] = []
        self._num_pending = 0
        self._writer: Any = None

    def write(self, sample: Sample) -> None:
        """Add a row, and write a row group if it is full."""
        self._check_columns(sample)
        if self._writer is None:
            self._create_file(sample)
        if self._schema is None:
            self._check_types(sample)
        self._rows.append(sample)
        self._num_pending += count_bytes(sample.values)
        if len(self._rows) >= _GROUP_ROWS or self._num_pending >= _GROUP_BYTES:
            self._write_group()

    def _create_file(self, sample: Sample | None) -> None:
        """Create the file. The column types are those of the schema; without a schema, those of the first sample."""
        pa, schema = self._arrow, self._schema
        if schema is not None:
            types = {name: _type_of_feature(pa, feature) for name, feature in schema.items()}
        else:
            types = {name: _type_of_value(pa, value) for name, value in (sample.values if sample else {}).items()}
        metadata = {CLASSES_KEY: json.dumps(self._classes)} if self._classes else None
        self._types = types
        self._arrow_schema = pa.schema(list(types.items()), metadata=metadata)
        self._writer = pa.parquet.ParquetWriter(self._file, self._arrow_schema)

    def _check_types(self, sample: Sample) -> None:
        """Raise FeatureError if a value does not have the type of its column."""
        for name, value in sample.values.items():
            try:
                self._arrow.array([_to_arrow_input(value, self._types[name])], self._types[name])
            except (TypeError, ValueError, self._arrow.ArrowException):
                raise FeatureError(
                    f"a value of feature {name!r} does not have the type of the Parquet column",
                    feature=name,
                    kind="feature_mismatch",
                    expected=str(self._types[name]),
                    found=type(value).__name__,
                    **sample.locate(),
                ) from None

    def _write_group(self) -> None:
        pa = self._arrow
        columns = [
            pa.array([_to_arrow_input(sample.values[name], kind) for sample in self._rows], kind)
            for name, kind in self._types.items()
        ]
        self._writer.write_table(pa.Table.from_arrays(columns, schema=self._arrow_schema))
        self._rows, self._num_pending = [], 0

    def commit(self) -> None:
        """Write the last row group, and give the file its final name."""
        if self._writer is None:
            self._create_file(None)
        if self._rows:
            self._write_group()
        self._writer.close()
        super().commit()


def _type_of_feature(pa: Any, feature: Feature) -> Any:
    kind = pa.binary() if feature.kind == "bytes" else pa.from_numpy_dtype(np.dtype(feature.kind))
    for _ in range(len(feature.shape) + feature.sequence):
        kind = pa.list_(kind)
    return kind


def _type_of_value(pa: Any, value: Any) -> Any:
    if isinstance(value, bytes):
        return pa.binary()
    if isinstance(value, Ragged):
        return pa.list_(_type_of_value(pa, b"" if _is_bytes(value) else value.data[:1]))
    if isinstance(value, list | tuple):
        return pa.list_(_type_of_value(pa, value[0])) if value else pa.null()
    if isinstance(value, str):
        return pa.string()
    array = np.asarray(value)
    kind = pa.from_numpy_dtype(array.dtype)
    for _ in range(array.ndim):
        kind = pa.list_(kind)
    return kind


def _is_bytes(value: Ragged) -> bool:
    return isinstance(value.data, np.ndarray) and value.data.dtype == np.uint8 and value.data.ndim == 1


def _to_arrow_input(value: Any, kind: Any) -> Any:
    """Convert a value to a type that PyArrow accepts; an empty array (a missing number) becomes None."""
    if isinstance(value, np.ndarray):
        if not hasattr(kind, "value_type"):
            return value.reshape(-1)[0] if value.size == 1 else None if value.size == 0 else value
        return value if value.ndim == 1 else value.tolist()
    return value.to_list() if isinstance(value, Ragged) else value
