"""Find the masks and boxes of a record by the usual names of their features."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from recordmill.decode.display import encode_mask, to_labels
from recordmill.decode.image import decode_png
from recordmill.decode.image_files import image_sizes
from recordmill.decode.signatures import find_image_format
from recordmill.errors import ImageError
from recordmill.types import Ragged

_MASK_NAME = re.compile(r"(?:^|[/_.-])(?:mask|masks|segmentation|segmap|trimap|annotation)(?:$|[/_.-])", re.IGNORECASE)
_BOX_NAME = re.compile(r"(?:^|[/_.-])(?:bbox|bboxes|box|boxes)$", re.IGNORECASE)
# TensorFlow's detection files have four box features, one for each edge. Their names end in these words.
_EDGES = ("xmin", "ymin", "xmax", "ymax")
# TensorFlow Datasets stores boxes of this feature as ymin, xmin, ymax, xmax.
_TFDS_BOXES = "objects/bbox"
# Names of features that contain the class name or class number of each box, without their prefix. The prefix, such as
# "image/object", is the same as in the name of the box feature.
_BOX_LABELS = ("class/text", "text", "class/label", "label", "labels", "category", "category_id")
_MAX_BOXES = 1000


def has_mask_name(name: str) -> bool:
    """Return whether the name of a feature suggests a mask of class labels."""
    return _MASK_NAME.search(name) is not None


def find_overlays(position: int, example: Mapping[str, Any], classes: list[str] | None) -> list[dict[str, Any]]:
    """Return the masks and boxes of a record as JSON for the response to ``api/record``."""
    overlays: list[dict[str, Any]] = [
        {
            "name": name,
            "kind": "mask",
            "url": f"api/overlay/{position}/{quote(name, safe='')}",
            "boxes": None,
            "labels": None,
        }
        for name, value in example.items()
        if has_mask_name(name) and isinstance(value, bytes) and find_image_format(value) == "png"
    ]
    size = _find_image_size(example)
    for name, edges in _find_boxes(example):
        boxes = _to_fractions(edges, size)
        if boxes is not None:
            labels = _find_labels(example, name, len(boxes), classes)
            overlays.append({"name": name, "kind": "boxes", "url": None, "boxes": boxes, "labels": labels})
    return overlays


def create_overlay(value: Any) -> bytes:
    """Return the mask of a feature as a PNG with a transparent background.

    Raises
    ------
    ImageError
        If the value is not a PNG of class labels.
    """
    if not isinstance(value, bytes):
        raise ImageError("the feature is not an encoded mask", kind="bad_image")
    mask = decode_png(value, palette="indices")
    if mask.ndim != 2:
        raise ImageError("the image has colors, so it is not a mask of class labels", kind="bad_image")
    return encode_mask(to_labels(mask))


def _find_image_size(example: Mapping[str, Any]) -> tuple[int, int] | None:
    """Return the width and height of the first image that is not a mask."""
    for name, value in example.items():
        if isinstance(value, bytes) and not has_mask_name(name) and find_image_format(value):
            height, width = image_sizes([value])[0].tolist()
            return (width, height) if height else None
    return None


def _find_boxes(example: Mapping[str, Any]) -> Iterator[tuple[str, NDArray[Any]]]:
    """Yield (name, edges) for each feature that contains boxes. `edges` has shape (num_boxes, 4)."""
    for name, value in example.items():
        prefix, _, last = name.rpartition("/")
        if last == "xmin":
            edges = [_flatten_numbers(example.get(f"{prefix}/{edge}" if prefix else edge)) for edge in _EDGES]
            if len({len(values) for values in edges}) == 1:
                yield prefix or "boxes", np.stack(edges, axis=1)
        elif _BOX_NAME.search(name) and (values := _flatten_numbers(value)).size % 4 == 0:
            boxes = values.reshape(-1, 4)
            yield name, boxes[:, [1, 0, 3, 2]] if name.endswith(_TFDS_BOXES) else boxes


def _flatten_numbers(value: Any) -> NDArray[np.float64]:
    if hasattr(value, "dtype") and value.dtype.kind in "iuf":
        return np.asarray(value, np.float64).reshape(-1)
    return np.empty(0)


def _to_fractions(edges: NDArray[np.float64], size: tuple[int, int] | None) -> list[list[float]] | None:
    """Convert box edges to fractions of the image size; return None if they are not finite or the size is unknown."""
    edges = edges[:_MAX_BOXES]
    if not len(edges) or not np.isfinite(edges).all():
        return None
    # Edges are either fractions of the image size or pixels. Fractions may be slightly above 1, but not above 2.
    if np.abs(edges).max() > 2:
        if size is None:
            return None
        edges = edges / np.array([*size, *size], np.float64)
    fractions: list[list[float]] = np.round(np.clip(edges, 0, 1), 6).tolist()
    return fractions


def _find_labels(example: Mapping[str, Any], name: str, num_boxes: int, classes: list[str] | None) -> list[str] | None:
    """Return the text that is shown beside each box: the class name or the class number."""
    prefix = name.rpartition("/")[0]
    for candidate in _BOX_LABELS:
        value = example.get(f"{prefix}/{candidate}" if prefix else candidate)
        texts = list(value) if isinstance(value, list | Ragged) else []
        if len(texts) == num_boxes and all(isinstance(text, bytes) for text in texts):
            return [text[:80].decode("utf-8", "backslashreplace") for text in texts[:_MAX_BOXES]]
        numbers = _flatten_numbers(value)
        if len(numbers) == num_boxes and np.isfinite(numbers).all():
            return [_name_class(number, classes) for number in numbers[:_MAX_BOXES].tolist()]
    return None


def _name_class(number: float, classes: list[str] | None) -> str:
    if classes and float(number).is_integer() and 0 <= number < len(classes):
        return classes[int(number)]
    return f"{number:g}"
