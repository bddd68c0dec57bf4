"""Build the schema of packed records, and convert labels to the dtype that the schema declares."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.errors import FeatureError, InputError, LabelError
from recordmill.formats.base import Format, PayloadCodec
from recordmill.packing.options import ImageOptions, LabelKind, RecordOptions
from recordmill.packing.sources.base import Items, Labels
from recordmill.schema import Feature, Kind, Schema
from recordmill.types import Ragged

# By default, integer features have kind int64. The readers of these payload codecs expect another kind.
_INTEGER_KINDS: dict[str, Kind] = {"ofrecord": "int32", "irheader": "float32"}


@dataclass(frozen=True, slots=True)
class FeatureNames:
    """Names of the features that store image, mask, label and so on; None for content that is not stored."""

    image: str
    label: str | None = None
    mask: str | None = None
    name: str | None = None
    height: str | None = None
    width: str | None = None
    dtype: str | None = None
    key: str | None = None
    second_key: str | None = None


def build_schema_and_convert_labels(
    items: Items, format_: Format, codec: PayloadCodec, options: RecordOptions, images: ImageOptions
) -> tuple[FeatureNames, Schema, Items]:
    """Return the feature names, the schema, and the items with labels of the dtype that the schema declares."""
    if not len(items):
        raise InputError("the source contains no images", kind="no_images", shard=items.origin or items.root or None)
    if codec.kind is None:
        return _build_raw_schema(items, options, images)
    names = FeatureNames(options.image_feature or format_.image_feature)
    label_name = options.label_feature or format_.label_feature
    features: list[tuple[str, Feature]] = [(names.image, Feature("bytes"))]
    if items.masks is not None:
        names = replace(names, mask=label_name)
        features.append((label_name, Feature("bytes")))
    elif items.labels is not None:
        feature, labels = _convert_labels(items, items.labels, options.label_kind, codec)
        items, names = replace(items, labels=labels), replace(names, label=label_name)
        features.append((label_name, feature))
    if options.label_kind is not None and names.label is None:
        raise ValueError("label_kind requires numeric labels, but the source has none")
    raw_mask = items.masks is not None and images.mask == "raw"
    if images.keep_shape or raw_mask:
        names = replace(names, height="height", width="width")
        features += [("height", Feature(_choose_integer_kind(codec))), ("width", Feature(_choose_integer_kind(codec)))]
    if raw_mask:
        names = replace(names, dtype="dtype")
        features.append(("dtype", Feature("bytes")))
    if options.name_feature is not None:
        names = replace(names, name=options.name_feature)
        features.append((options.name_feature, Feature("bytes")))
    features += _list_extra_features(items.extra, codec)
    if codec.name == "irheader":
        # MXNet writes the key of the record to field `id` and 0 to `id2`, so its readers expect these values.
        names = replace(names, key="id", second_key="id2")
        features += [("id", Feature("uint64")), ("id2", Feature("uint64"))]
    return names, _check_schema(features, codec), items


def _build_raw_schema(items: Items, options: RecordOptions, images: ImageOptions) -> tuple[FeatureNames, Schema, Items]:
    has_more = items.labels is not None or items.masks is not None or items.extra or images.keep_shape
    if has_more or options.name_feature is not None:
        raise FeatureError(
            "a raw payload stores only the bytes of the image",
            kind="feature_mismatch",
            expected="a source without labels",
            found="labels or further features",
            hint="omit labels with labels=None, or choose another payload",
        )
    return FeatureNames("payload"), Schema({"payload": Feature("bytes")}), items


def _choose_integer_kind(codec: PayloadCodec) -> Kind:
    return _INTEGER_KINDS.get(codec.name, "int64")


def _list_extra_features(extra: Mapping[str, Any], codec: PayloadCodec) -> list[tuple[str, Feature]]:
    limits = np.iinfo(np.int32)
    features = []
    for name, values in extra.items():
        if isinstance(values, list):
            kind: Kind = "bytes"
        elif values.dtype.kind == "f":
            kind = "float32"
        else:
            fits_int32 = values.size == 0 or (values.min() >= limits.min and values.max() <= limits.max)
            kind = _choose_integer_kind(codec) if fits_int32 else "int64"
        features.append((name, Feature(kind)))
    return features


def _check_schema(features: list[tuple[str, Feature]], codec: Any) -> Schema:
    names = [name for name, _ in features]
    for name in names:
        if names.count(name) > 1:
            raise FeatureError(f"two features are named {name!r}", kind="feature_mismatch", hint="rename one of them")
    schema = Schema(dict(features))
    bytes_features = [name for name, feature in features if feature.kind == "bytes"]
    if codec.name == "irheader" and len(bytes_features) > 1:
        raise FeatureError(
            f"an irheader payload cannot store feature {bytes_features[1]!r}",
            kind="feature_mismatch",
            expected="one feature of bytes beside the label",
            found=", ".join(bytes_features),
            hint='use payload="example", or another format',
        )
    for name in names:
        codec.native_key(name, schema)
    return schema


def _convert_labels(
    items: Items, labels: Labels, kind: LabelKind | None, codec: PayloadCodec
) -> tuple[Feature, Labels]:
    """Convert all labels to the kind in which they are stored; raise LabelError if that would change a value."""
    labels = _make_rectangular(labels, vector=kind == "vector")
    flat = np.asarray(labels.data if isinstance(labels, Ragged) else labels.reshape(-1))
    stored_kind = _choose_label_kind(flat, kind, codec)
    inexact = _find_inexact_labels(flat, stored_kind)
    if kind is None and flat.dtype.kind == "f":
        inexact |= ~np.isfinite(flat)
    if inexact.any():
        position = int(np.flatnonzero(inexact)[0])
        raise _label_error(items, _find_label_row(labels, position), flat[position].item(), stored_kind)
    values: NDArray[Any] = flat.astype(stored_kind)
    if isinstance(labels, Ragged):
        return Feature(stored_kind, (None,)), Ragged(values, labels.row_splits)
    return Feature(stored_kind, labels.shape[1:]), values.reshape(labels.shape)


def _make_rectangular(labels: Labels, *, vector: bool) -> Labels:
    """Convert labels of equal length to an array. Labels of one number get shape (n,), or (n, 1) with `vector`."""
    if isinstance(labels, Ragged):
        counts = np.diff(labels.row_splits)
        if not len(counts) or (counts != counts[0]).any():
            return labels
        labels = np.asarray(labels.data).reshape(len(counts), counts[0])
    if labels.ndim == 2 and labels.shape[1] == 1 and not vector:
        return labels[:, 0]
    return labels[:, None] if labels.ndim == 1 and vector else labels


def _choose_label_kind(flat: NDArray[Any], kind: LabelKind | None, codec: PayloadCodec) -> Kind:
    integer_kind = _choose_integer_kind(codec)
    if kind is None:
        with np.errstate(invalid="ignore"):
            integral = flat.dtype.kind in "iu" or bool((np.isfinite(flat) & (flat == np.floor(flat))).all())
            return integer_kind if integral else "float32"
    stored_kind: Kind = "float32" if kind == "vector" else kind
    allowed = ("float32",) if integer_kind == "float32" else getattr(codec, "kinds", ())
    if stored_kind not in allowed:
        raise FeatureError(
            f"{codec.name} payloads cannot store labels as {stored_kind}",
            kind="feature_mismatch",
            expected=" or ".join(name for name in allowed if name != "bytes") or "no label",
            found=stored_kind,
            hint="omit label_kind=, or choose another format",
        )
    return stored_kind


def _find_inexact_labels(flat: NDArray[Any], kind: Kind) -> NDArray[np.bool_]:
    """Return a boolean mask of the labels whose values would change in a conversion to `kind`."""
    with np.errstate(invalid="ignore", over="ignore"):
        if kind == "float32":
            integral = (flat == np.floor(flat)) & np.isfinite(flat)
            return np.asarray(integral & (flat.astype(np.float32).astype(flat.dtype) != flat))
        limits = np.iinfo(kind)
        if flat.dtype.kind in "iu":
            return np.asarray((flat < limits.min) | (flat > limits.max))
        return np.asarray(~((flat == np.floor(flat)) & (flat >= limits.min) & (flat < float(limits.max) + 1)))


def _find_label_row(labels: Labels, position: int) -> int:
    if isinstance(labels, Ragged):
        return int(np.searchsorted(labels.row_splits, position, "right")) - 1
    return position // max(int(np.prod(labels.shape[1:])), 1)


def _label_error(items: Items, row: int, value: Any, kind: Kind) -> LabelError:
    if isinstance(value, float) and not math.isfinite(value):
        expected, hint = "a finite number", 'add the missing label, or use label_kind="float32" to store this value'
    else:
        integral = not isinstance(value, float) or value.is_integer()
        expected = "an integer that float32 represents exactly" if kind == "float32" else f"an integer of {kind}"
        hint = f'use label_kind="{"int64" if integral else "float32"}" and a format that supports it'
    origin = items.describe_origin(row)
    return LabelError(
        f"the label of {items.names[row]!r}{f' ({origin})' if origin else ''} cannot be stored as {kind}",
        kind="bad_label",
        shard=items.paths()[row],
        expected=expected,
        found=repr(value),
        hint=hint,
    )
