"""A whole pipeline in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recordmill.errors import FeatureError
from recordmill.pipeline.context import Context
from recordmill.pipeline.positions import Places
from recordmill.pipeline.rows import stacked
from recordmill.pipeline.sources import SourceOrigin
from recordmill.schema import Feature, Schema
from recordmill.types import Ragged

if TYPE_CHECKING:
    from recordmill.pipeline.dataset import Dataset


def to_numpy(dataset: Dataset) -> dict[str, Any]:
    """All samples of epoch 0."""
    if dataset.stage is not None:
        raise ValueError("to_numpy gives all samples: leave out batch")
    program = dataset.program
    if program.is_stream:
        return stacked(list(dataset))
    places = Places(0, range(len(program)))
    try:
        return program.evaluate(places, Context()).columns
    except FeatureError:
        origin = dataset.origin
        if dataset.stages or not isinstance(origin, SourceOrigin) or not origin.source.is_schema_inferred:
            raise
    columns = origin.source.columns(range(len(program)), _widened(dataset.schema))
    return {name: _densified(column) for name, column in columns.items()}


def _widened(schema: Schema) -> Schema:
    """The same features with any number of values: those of the first records were not those of all."""
    free = {
        name: Feature(feature.kind, (None, None) if feature.sequence else (None,), feature.sequence, optional=True)
        for name, feature in schema.items()
    }
    return Schema(free)


def _densified(column: Any) -> Any:
    if not isinstance(column, Ragged) or len(column) == 0:
        return column
    counts = np.diff(column.row_splits)
    if (counts != counts[0]).any():
        return column
    if counts[0] == 1:
        return column.data
    return column if isinstance(column.data, Ragged) else column.data.reshape(len(column), counts[0])
