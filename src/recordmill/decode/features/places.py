"""Columns of boxes and points."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from recordmill.decode.places import edges_of, map_boxes, map_points
from recordmill.decode.specs.boxes import Boxes, Keypoints
from recordmill.decode.state import BatchState
from recordmill.errors import FeatureError
from recordmill.types import Ragged

Floats = NDArray[np.float64]


def decode_boxes(state: BatchState, name: str, specs: Mapping[str, Any]) -> dict[str, Any]:
    """Carry boxes, and what goes along with them, to the output of their image."""
    spec = cast("Boxes", specs[name])
    source = spec.feature or name
    features = (source,) if isinstance(source, str) else tuple(source)
    columns = [state.column(one) for one in features]
    along = {one: state.column(one) for one in spec.along}
    moved: list[Any] = [np.zeros((0, 4))] * state.count
    kept_along: dict[str, list[Any]] = {one: [np.zeros(0)] * state.count for one in along}
    for row, matrix, size, sizes in _rows(state, spec.of):
        try:
            boxes = edges_of(_boxes(columns, features, row), spec.form, sizes if spec.relative else None)
            others = {one: _along(column, one, row, len(boxes)) for one, column in along.items()}
        except FeatureError as error:
            state.fail(row, features[0], error)
            continue
        moved[row], kept = map_boxes(boxes, matrix, size, spec.min_visible)
        for one, values in others.items():
            kept_along[one][row] = values[kept]
    ragged = {one: _ragged(rows, _dtype_of(along[one])) for one, rows in kept_along.items()}
    return {name: _ragged(moved, np.float32), **ragged}


def _dtype_of(column: Any) -> Any:
    inner = column.data if isinstance(column, Ragged) else column
    return np.asarray(inner if isinstance(inner, np.ndarray) else inner[0] if len(inner) else []).dtype


def decode_points(state: BatchState, name: str, specs: Mapping[str, Any]) -> dict[str, Any]:
    """Carry points to the output of their image."""
    spec = cast("Keypoints", specs[name])
    feature = spec.feature or name
    column = state.column(feature)
    shift = 0.5 if spec.centers else 0.0
    rows: list[Any] = [np.zeros((0, 3))] * state.count
    for row, matrix, size, sizes in _rows(state, spec.of):
        try:
            points = _numbers(column[row], feature, 2)
        except FeatureError as error:
            state.fail(row, feature, error)
            continue
        places = map_points(points * sizes if spec.relative else points + shift, matrix)
        inside = np.all((places >= 0) & (places < size), axis=1, keepdims=True)
        rows[row] = np.concatenate([places - shift, inside], axis=1)
    return {name: _ragged(rows, np.float32)}


def _rows(state: BatchState, of: str) -> list[tuple[int, Floats, tuple[int, int], tuple[int, int]]]:
    """Row, map from the upright image to the output, output size and image size of each sample."""
    plan, rows = state.images[of], state.alive()
    at = plan.at(rows)
    sizes, decoded = plan.headers.sizes[at], plan.headers.decoded[at]
    maps = plan.moves[at].point_maps()
    maps[:, :, :2] *= (decoded / np.maximum(sizes, 1))[:, None, :]
    outputs = plan.moves.sizes[at].tolist()
    return [
        (row, matrix, (output[0], output[1]), (size[0], size[1]))
        for row, matrix, output, size in zip(rows.tolist(), maps, outputs, sizes.tolist(), strict=True)
    ]


def _numbers(value: Any, feature: str, width: int) -> Floats:
    numbers = np.asarray(value)
    if numbers.dtype.kind not in "iuf" or numbers.size % width:
        raise FeatureError(
            f"feature '{feature}' holds no rows of {width} numbers",
            kind="feature_mismatch",
            found=f"{numbers.dtype} of shape {numbers.shape}",
        )
    rows = numbers.astype(np.float64).reshape(-1, width)
    if not np.isfinite(rows).all():
        raise FeatureError(f"feature '{feature}' holds numbers that are not finite", kind="feature_mismatch")
    return rows


def _boxes(columns: list[Any], features: tuple[str, ...], row: int) -> Floats:
    if len(columns) == 1:
        return _numbers(columns[0][row], features[0], 4)
    sides = [_numbers(column[row], one, 1)[:, 0] for column, one in zip(columns, features, strict=True)]
    if len({len(side) for side in sides}) != 1:
        raise FeatureError(
            "features of boxes have several lengths",
            kind="feature_mismatch",
            found=str({one: len(side) for one, side in zip(features, sides, strict=True)}),
        )
    return np.stack(sides, axis=1)


def _along(column: Any, feature: str, row: int, count: int) -> NDArray[Any]:
    values = np.atleast_1d(np.asarray(column[row]))
    if values.dtype.kind not in "iuf" or len(values) != count:
        raise FeatureError(
            f"feature '{feature}' goes along with boxes",
            kind="feature_mismatch",
            expected=f"{count} numbers",
            found=f"{values.dtype} of shape {values.shape}",
        )
    return values


def _ragged(rows: list[Any], dtype: Any) -> Ragged:
    splits = np.zeros(len(rows) + 1, np.int64)
    np.cumsum([len(row) for row in rows], out=splits[1:])
    data = np.concatenate(rows) if rows else np.zeros((0,))
    return Ragged(data.astype(dtype), splits)
