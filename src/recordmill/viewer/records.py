"""Describe records as JSON for the viewer: a few values for the grid, and all features for the page of one record."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import quote

import numpy as np

from recordmill.conversion.convert import open_records
from recordmill.conversion.source import Positions, ShardRecords
from recordmill.decode.image_files import image_sizes
from recordmill.decode.signatures import find_image_format
from recordmill.decode.thumbnails import create_thumbnail
from recordmill.errors import InputError, LimitError, MissingExtraError, RecordmillError
from recordmill.pipeline.dataset import Dataset
from recordmill.pipeline.stages.base import OrderStage
from recordmill.shards.collection import ShardCollection
from recordmill.shards.index import sidecar_locations
from recordmill.shards.parse_payloads import parse_payloads
from recordmill.shards.parsed import parse_exactly
from recordmill.types import Ragged
from recordmill.value_text import LABEL_FEATURES, describe_value, find_class_name, find_value_kind
from recordmill.viewer.overlays import find_overlays, has_mask_name

# The grid does not read records above this size.
_MAX_CELL_BYTES = 16 << 20
# Limits of a grid cell: number of images, number of other features, and number of characters per text.
_MAX_CELL_IMAGES, _MAX_CELL_VALUES, _MAX_CELL_CHARS = 8, 4, 80
# Limits of a record page: number of images per feature, and number of characters per text.
_MAX_PAGE_IMAGES, _MAX_PAGE_CHARS = 256, 2000
# Number of records that are read to find out which features contain images.
_SAMPLE_RECORDS = 8
_KEY_FEATURES = ("key", "__key__", "name", "filename", "image/filename", "id", "image/source_id")


class ViewedRecords:
    """The records of a dataset as JSON. Thread-safe.

    A position is the index of a record among the records of all shards. If the dataset has stages that change samples,
    or is a mixture of datasets, its source records are shown.

    Parameters
    ----------
    dataset : Dataset

    Raises
    ------
    InputError
        If the dataset does not read shards.
    """

    def __init__(self, dataset: Dataset) -> None:
        opened = open_records(dataset)
        self.records, self.positions = _list_source_records(opened) if isinstance(opened, Dataset) else opened
        self.pipeline = dataset if any(not isinstance(stage, OrderStage) for stage in dataset.stages) else None
        self.classes = self.records.classes
        self.schema = {name: feature for part in self.records.collections for name, feature in part.schema.items()}
        sample = list(self._read_sample())
        self.image_features = [
            name for name in self.schema if _contains_images(example.get(name) for example in sample)
        ]
        self.label_feature = next((name for name in LABEL_FEATURES if name in self.schema), None)
        self.key_feature = next((name for name in _KEY_FEATURES if name in self.schema), None)

    def _read_sample(self) -> Iterator[dict[str, Any]]:
        for position in self.positions[:_SAMPLE_RECORDS]:
            try:
                yield self.read_small_example(int(position))
            except RecordmillError:
                continue

    def __len__(self) -> int:
        """Return the number of records."""
        return len(self.positions)

    def find(self, position: int) -> tuple[ShardCollection, int]:
        """Return the `ShardCollection` that contains a record, and the position of the record in this collection."""
        if not 0 <= position < len(self.records):
            raise IndexError(f"position {position} is out of range for {len(self.records):,} records")
        return self.records.find(position)

    def describe(self) -> dict[str, Any]:
        """Describe the dataset: paths, sizes, format, features and class names."""
        collections = self.records.collections
        readers = [reader for collection in collections for reader in collection.readers]
        return {
            "title": _describe_paths(self.records.paths),
            "paths": self.records.paths,
            "num_records": len(self),
            "num_bytes": sum(reader.shard.source.num_stored_bytes or 0 for reader in readers),
            "format": ", ".join(dict.fromkeys(reader.format for reader in readers)),
            "payload": ", ".join(dict.fromkeys(collection.codec_name for collection in collections)),
            "schema": {
                name: {"kind": feature.kind, "shape": list(feature.shape)} for name, feature in self.schema.items()
            },
            "classes": self.classes,
            "pipeline": None if self.pipeline is None else repr(self.pipeline),
            "image_features": self.image_features,
            "label_feature": self.label_feature,
            "key_feature": self.key_feature,
            "sortable": [name for name, feature in self.schema.items() if self._is_sortable(name, feature)],
        }

    def _is_sortable(self, name: str, feature: Any) -> bool:
        return feature.count in (1, None) and not feature.sequence and name not in self.image_features

    def read_small_example(self, position: int) -> dict[str, Any]:
        """Return a record, reduced to the features in the schema. Raise LimitError if the record is too large."""
        collection, record = self.find(position)
        size = collection.count_record_bytes(record)
        if size > _MAX_CELL_BYTES:
            raise LimitError(
                f"the record has {size:,} bytes; the grid reads records of up to {_MAX_CELL_BYTES:,} bytes"
            )
        return collection.__getitems__([record])[0]

    def read_example(self, position: int) -> dict[str, Any]:
        """Read all features of a record, including those that are not in the schema of the dataset."""
        collection, record = self.find(position)
        return _parse_example(collection, collection.fetch_payloads(range(record, record + 1)))

    def describe_cell(self, position: int) -> dict[str, Any]:
        """Describe a record for the grid: key, label, thumbnails and shortened values."""
        cell: dict[str, Any] = {"position": position, "key": None, "label": None, "class": None}
        try:
            example = self.read_small_example(position)
        except RecordmillError as error:
            return cell | {"images": [], "values": [], "error": error.message}
        names = [name for name in self.image_features if not has_mask_name(name)] or self.image_features
        images = [
            f"api/thumbnail/{position}/{quote(name, safe='')}/{number}"
            for name in names
            for number in range(len(list_images(example.get(name))))
        ]
        shown = {self.key_feature, self.label_feature, *self.image_features}
        values = [
            {"name": name, "text": describe_value(value, _MAX_CELL_CHARS)[0]}
            for name, value in example.items()
            if name not in shown
        ]
        return cell | {
            **self._describe_key_and_label(example),
            "images": images[:_MAX_CELL_IMAGES],
            "values": values[:_MAX_CELL_VALUES],
            "error": None,
        }

    def _describe_key_and_label(self, example: dict[str, Any]) -> dict[str, Any]:
        key = None if self.key_feature is None else example.get(self.key_feature)
        label = _to_label(None if self.label_feature is None else example.get(self.label_feature))
        return {
            "key": None if key is None else describe_value(key, _MAX_CELL_CHARS)[0],
            "label": label,
            "class": find_class_name(label, self.classes) if isinstance(label, int | float) else None,
        }

    def describe_record(self, position: int) -> dict[str, Any]:
        """Describe a record for its page: location in the shards, all features, images and overlays."""
        collection, record = self.find(position)
        reader, number = collection.find_reader(record)
        shard, _, offset = collection.where(record)
        page: dict[str, Any] = {
            "position": position,
            "key": None,
            "label": None,
            "class": None,
            "shard": shard,
            "record": number,
            "offset": offset,
            "num_bytes": collection.count_record_bytes(record),
            "index": _find_index_path(reader),
            "sha256": None,
            "features": [],
            "overlays": [],
            "error": None,
        }
        try:
            payload = collection.fetch_payloads(range(record, record + 1))
            page["sha256"] = hashlib.sha256(payload[0]).hexdigest()
            example = _parse_example(collection, payload)
        except RecordmillError as error:
            return page | {"error": error.message}
        features = [self._describe_feature(position, name, value) for name, value in example.items()]
        overlays = find_overlays(position, example, self.classes)
        return page | {**self._describe_key_and_label(example), "features": features, "overlays": overlays}

    def _describe_feature(self, position: int, name: str, value: Any) -> dict[str, Any]:
        text, is_truncated = describe_value(value, _MAX_PAGE_CHARS)
        place = f"{position}/{quote(name, safe='')}"
        images = [
            describe_image_file(data)
            | {"url": f"api/image/{place}/{number}", "thumbnail": f"api/thumbnail/{place}/{number}"}
            for number, data in enumerate(list_images(value)[:_MAX_PAGE_IMAGES])
        ]
        return {
            "name": name,
            "kind": find_value_kind(value),
            "shape": _find_value_shape(value),
            "num_bytes": _count_value_bytes(value),
            "text": text,
            "truncated": is_truncated,
            "images": images,
            "download": f"api/value/{place}",
        }

    def read_feature(self, position: int, name: str) -> Any:
        """Return the value of a feature; raise KeyError if the record does not have it."""
        example = self.read_example(position)
        if name not in example:
            raise KeyError(f"record {position} has no feature {name!r}")
        return example[name]

    def read_image(self, position: int, name: str, number: int) -> bytes:
        """Return the bytes of one image of a feature."""
        images = list_images(self.read_feature(position, name))
        if not 0 <= number < len(images):
            raise KeyError(
                f"image {number} is out of range for {len(images)} images in feature {name!r} of record {position}"
            )
        return images[number]

    def create_thumbnail(self, position: int, name: str, number: int) -> bytes:
        """Return a small copy of an image as JPEG or PNG."""
        return create_thumbnail(self.read_image(position, name, number))


def _list_source_records(dataset: Dataset) -> tuple[ShardRecords, Positions]:
    collections = [source for source in dataset.pipeline.sources if isinstance(source, ShardCollection)]
    if not collections or len(collections) != len(dataset.pipeline.sources):
        hint = "open shards with rm.open, or write the samples to shards with rm.pack"
        raise InputError(
            "the viewer requires a dataset that reads shards, but this dataset has another source", hint=hint
        )
    records = ShardRecords(collections)
    return records, range(len(records))


def _parse_example(collection: ShardCollection, payload: Ragged) -> dict[str, Any]:
    """Parse all features of one record."""
    schema = parse_exactly(collection.codec, payload)[0].schema
    columns = parse_payloads(payload, schema, payload=collection.codec_name)
    return {name: column[0] for name, column in columns.items()}


def _describe_paths(paths: list[str]) -> str:
    common = os.path.commonpath(paths) if len({os.path.isabs(path) for path in paths}) == 1 else ""
    return f"{common or paths[0]} ({len(paths)} shards)" if len(paths) > 1 else paths[0]


def list_images(value: Any) -> list[bytes]:
    """Return the images in a feature value: each byte string that starts with the signature of an image format."""
    if isinstance(value, bytes):
        return [value] if find_image_format(value) else []
    if isinstance(value, list) or (isinstance(value, Ragged) and find_value_kind(value) == "bytes"):
        return [image for row in value for image in list_images(row)]
    return []


def _contains_images(values: Iterable[Any]) -> bool:
    """Return True if most of the values are images."""
    counts = [len(list_images(value)) for value in values if value is not None]
    return 2 * sum(count > 0 for count in counts) > len(counts)


def describe_image_file(data: bytes) -> dict[str, Any]:
    """Return the format, pixel size and byte size of an image file; the pixel size is 0 x 0 if the header is broken."""
    try:
        height, width = image_sizes([data], orientation="ignore")[0].tolist()
    except MissingExtraError:
        height = width = 0
    return {"format": find_image_format(data), "width": width, "height": height, "num_bytes": len(data)}


def _find_value_shape(value: Any) -> list[int]:
    if hasattr(value, "dtype"):
        return list(np.shape(value))
    return [] if isinstance(value, bytes) else [len(value)]


def _count_value_bytes(value: Any) -> int:
    if isinstance(value, bytes):
        return len(value)
    if hasattr(value, "nbytes"):
        return int(value.nbytes)
    return sum(map(_count_value_bytes, value))


def _to_label(value: Any) -> int | float | str | None:
    if isinstance(value, bytes):
        return describe_value(value, _MAX_CELL_CHARS)[0]
    if getattr(value, "size", 0) != 1:
        return None
    number: int | float = np.reshape(value, -1)[0].item()
    return int(number) if float(number).is_integer() else number


def _find_index_path(reader: Any) -> str | None:
    for storage, path in sidecar_locations(reader.shard.storage, reader.shard.paths[0]):
        if storage.exists(path):
            return path
    return None
