"""Apply the geometric transforms of images to the columns of their boxes and keypoints."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.decode.specs.boxes import Boxes, Keypoints
from recordmill.decode.state import BatchState
from recordmill.errors import FeatureError
from recordmill.types import Ragged

Floats = NDArray[np.float64]
Size = tuple[int, int]  # (width, height)


def decode_box_column(state: BatchState, name: str, spec: Boxes) -> dict[str, Any]:
    """Map boxes to the output image, clip them, and drop boxes whose visible share is below `min_visible`.

    The values of a dropped box in the `along` features are dropped, too.
    """
    source = spec.feature or name
    features = (source,) if isinstance(source, str) else tuple(source)
    columns = [state.column(feature) for feature in features]
    along = {feature: state.column(feature) for feature in spec.along}
    mapped: list[Any] = [np.zeros((0, 4))] * state.count
    kept_along: dict[str, list[Any]] = {feature: [np.zeros(0)] * state.count for feature in along}
    for row, matrix, output_size, image_size in _list_point_transforms(state, spec.of):
        try:
            boxes = _boxes_to_edges(
                _read_boxes(columns, features, row), spec.form, image_size if spec.relative else None
            )
            values = {
                feature: _read_along_values(column, feature, row, len(boxes)) for feature, column in along.items()
            }
        except FeatureError as error:
            state.store_error(row, features[0], error)
            continue
        mapped[row], kept = _map_boxes(boxes, matrix, output_size, spec.min_visible)
        for feature, numbers in values.items():
            kept_along[feature][row] = numbers[kept]
    others = {feature: _to_ragged(rows, _find_dtype(along[feature])) for feature, rows in kept_along.items()}
    return {name: _to_ragged(mapped, np.float32), **others}


def decode_keypoint_column(state: BatchState, name: str, spec: Keypoints) -> dict[str, Any]:
    """Map keypoints to the output image, and mark those that lie inside it."""
    feature = spec.feature or name
    column = state.column(feature)
    shift = 0.5 if spec.centers else 0.0
    rows: list[Any] = [np.zeros((0, 3))] * state.count
    for row, matrix, output_size, image_size in _list_point_transforms(state, spec.of):
        try:
            points = _read_numbers(column[row], feature, 2)
        except FeatureError as error:
            state.store_error(row, feature, error)
            continue
        mapped = _map_points(points * image_size if spec.relative else points + shift, matrix)
        is_inside = np.all((mapped >= 0) & (mapped < output_size), axis=1, keepdims=True)
        rows[row] = np.concatenate([mapped - shift, is_inside], axis=1)
    return {name: _to_ragged(rows, np.float32)}


def _list_point_transforms(state: BatchState, image: str) -> list[tuple[int, Floats, Size, Size]]:
    """Return (row, matrix, output size, image size) of each sample. The matrix maps image points to output points."""
    images, rows = state.images[image], state.valid_rows()
    ordinals = images.find_ordinals(rows)
    headers, geometry = images.headers[ordinals], images.geometry[ordinals]
    maps = geometry.point_maps()
    maps[:, :, :2] *= (headers.decoded_sizes / np.maximum(headers.sizes, 1))[:, None, :]
    outputs = geometry.output_sizes().tolist()
    return [
        (row, matrix, (output[0], output[1]), (size[0], size[1]))
        for row, matrix, output, size in zip(rows.tolist(), maps, outputs, headers.sizes.tolist(), strict=True)
    ]


def _map_points(points: Floats, matrix: Floats) -> Floats:
    mapped: Floats = points @ matrix[:2, :2].T + matrix[:2, 2]
    return mapped


def _map_boxes(boxes: Floats, matrix: Floats, size: Size, min_visible: float) -> tuple[Any, NDArray[np.bool_]]:
    """Map boxes to the output and clip them. Return the visible boxes, and a mask of the visible rows of `boxes`."""
    corners = boxes[:, [0, 1, 2, 1, 2, 3, 0, 3]].reshape(-1, 2)
    mapped = _map_points(corners, matrix).reshape(-1, 4, 2)
    whole = np.concatenate([mapped.min(axis=1), mapped.max(axis=1)], axis=1)
    clipped = np.clip(whole, 0, [*size, *size])
    area, visible = _compute_areas(whole), _compute_areas(clipped)
    kept = np.logical_and(visible > 0, visible >= min_visible * area)
    return clipped[kept], kept


def _compute_areas(boxes: Floats) -> Floats:
    areas: Floats = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    return areas


def _boxes_to_edges(boxes: Floats, form: str, size: Size | None) -> Floats:
    """Convert boxes to left, top, right and bottom in pixels. If `size` is given, `boxes` are fractions of `size`."""
    if form == "yxyx":
        boxes = boxes[:, [1, 0, 3, 2]]
    elif form == "xywh":
        boxes = np.concatenate([boxes[:, :2], boxes[:, :2] + boxes[:, 2:]], axis=1)
    return boxes if size is None else boxes * np.array([*size, *size])


def _read_numbers(value: Any, feature: str, width: int) -> Floats:
    numbers = np.asarray(value)
    if numbers.dtype.kind not in "iuf" or numbers.size % width:
        raise FeatureError(
            f"feature '{feature}' must hold rows of {width} numbers",
            kind="feature_mismatch",
            found=f"{numbers.dtype} of shape {numbers.shape}",
        )
    rows = numbers.astype(np.float64).reshape(-1, width)
    if not np.isfinite(rows).all():
        raise FeatureError(f"feature '{feature}' must hold finite numbers", kind="feature_mismatch")
    return rows


def _read_boxes(columns: list[Any], features: tuple[str, ...], row: int) -> Floats:
    if len(columns) == 1:
        return _read_numbers(columns[0][row], features[0], 4)
    sides = [_read_numbers(column[row], feature, 1)[:, 0] for column, feature in zip(columns, features, strict=True)]
    if len({len(side) for side in sides}) != 1:
        raise FeatureError(
            "the features of box edges must have the same number of values",
            kind="feature_mismatch",
            found=str({feature: len(side) for feature, side in zip(features, sides, strict=True)}),
        )
    return np.stack(sides, axis=1)


def _read_along_values(column: Any, feature: str, row: int, count: int) -> NDArray[Any]:
    values = np.atleast_1d(np.asarray(column[row]))
    if values.dtype.kind not in "iuf" or len(values) != count:
        raise FeatureError(
            f"feature '{feature}' in along= must have one number per box",
            kind="feature_mismatch",
            expected=f"{count} numbers",
            found=f"{values.dtype} of shape {values.shape}",
        )
    return values


def _find_dtype(column: Any) -> Any:
    data = column.data if isinstance(column, Ragged) else column
    if not isinstance(data, np.ndarray):
        data = np.asarray(data[0] if len(data) else [])
    return data.dtype


def _to_ragged(rows: list[Any], dtype: Any) -> Ragged:
    splits = np.zeros(len(rows) + 1, np.int64)
    np.cumsum([len(row) for row in rows], out=splits[1:])
    data = np.concatenate(rows) if rows else np.zeros((0,))
    return Ragged(data.astype(dtype), splits)
