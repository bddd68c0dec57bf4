"""What the records of a source will hold: names, kinds and shapes of their features."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from recordmill.errors import FeatureError, InputError
from recordmill.formats.base import Format, PayloadCodec
from recordmill.packing.job import Names
from recordmill.packing.labels import convert_labels, whole_kind
from recordmill.packing.options import ImageOptions, RecordOptions
from recordmill.packing.sources.base import Items
from recordmill.schema import Feature, Schema


def describe_records(
    items: Items, format_: Format, codec: PayloadCodec, wanted: RecordOptions, images: ImageOptions
) -> tuple[Names, Schema, Items]:
    """Decide on the features of each record, and bring labels to their stored kind."""
    if not len(items):
        raise InputError("there is nothing to pack", kind="no_images", shard=items.origin or items.root or None)
    image = wanted.image_feature or format_.image_feature
    label = wanted.label_feature or format_.label_feature
    if codec.kind is None:
        return _raw(items, wanted, images)
    features: list[tuple[str, Feature]] = [(image, Feature("bytes"))]
    names = Names(image)
    if items.masks is not None:
        names = replace(names, mask=label)
        features.append((label, Feature("bytes")))
    elif items.labels is not None:
        feature, labels = convert_labels(items, wanted.label_kind, codec)
        items, names = replace(items, labels=labels), replace(names, label=label)
        features.append((label, feature))
    if wanted.label_kind is not None and names.label is None:
        raise ValueError("label_kind is for labels that are numbers; the source has none")
    names = _add_shape(names, items, images, codec, features)
    if wanted.name_feature is not None:
        names = replace(names, name=wanted.name_feature)
        features.append((wanted.name_feature, Feature("bytes")))
    features += _extra(items.extra, codec)
    if codec.name == "irheader":
        names = _add_keys(names, features)
    return names, _schema(features, codec), items


def _add_shape(
    names: Names, items: Items, images: ImageOptions, codec: PayloadCodec, features: list[tuple[str, Feature]]
) -> Names:
    raw_mask = items.masks is not None and images.mask == "raw"
    if images.keep_shape or raw_mask:
        kind = whole_kind(codec)
        names = replace(names, height="height", width="width")
        features += [("height", Feature(kind)), ("width", Feature(kind))]
    if raw_mask:
        names = replace(names, dtype="dtype")
        features.append(("dtype", Feature("bytes")))
    return names


def _extra(extra: Mapping[str, Any], codec: PayloadCodec) -> list[tuple[str, Feature]]:
    features = []
    for name, values in extra.items():
        if isinstance(values, list):
            features.append((name, Feature("bytes")))
        elif values.dtype.kind == "f":
            features.append((name, Feature("float32")))
        else:
            fits = values.size == 0 or (
                values.min() >= np.iinfo(np.int32).min and values.max() <= np.iinfo(np.int32).max
            )
            features.append((name, Feature(whole_kind(codec) if fits else "int64")))
    return features


def _add_keys(names: Names, features: list[tuple[str, Feature]]) -> Names:
    """Image records have two ids; readers expect the key in the first, and 0 in the second."""
    features += [("id", Feature("uint64")), ("id2", Feature("uint64"))]
    return replace(names, key="id", second_key="id2")


def _schema(features: list[tuple[str, Feature]], codec: Any) -> Schema:
    names = [name for name, _ in features]
    for name in names:
        if names.count(name) > 1:
            raise FeatureError(
                f"two features would be called {name!r}", kind="feature_mismatch", hint="name one otherwise"
            )
    schema = Schema(dict(features))
    blobs = [name for name, feature in features if feature.kind == "bytes"]
    if codec.name == "irheader" and len(blobs) > 1:
        raise FeatureError(
            f"an image record has no room for feature {blobs[1]!r}",
            kind="feature_mismatch",
            expected="one feature of bytes beside the label",
            found=", ".join(blobs),
            hint='store them with payload="example", or in another format',
        )
    for name in names:
        codec.key(name, schema)
    return schema


def _raw(items: Items, wanted: RecordOptions, images: ImageOptions) -> tuple[Names, Schema, Items]:
    has_more = items.labels is not None or items.masks is not None or items.extra or images.keep_shape
    if has_more or wanted.name_feature is not None:
        raise FeatureError(
            "a raw payload holds the bytes of the image and nothing else",
            kind="feature_mismatch",
            expected="a source without labels",
            found="labels or further features",
            hint="leave labels out with labels=None, or take another payload",
        )
    return Names("payload"), Schema({"payload": Feature("bytes")}), items
