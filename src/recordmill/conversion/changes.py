"""Change features: select, drop, rename and cast them, encode images again, and check that a payload can store them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from recordmill.errors import FeatureError
from recordmill.formats.base import PayloadCodec
from recordmill.formats.raw import RAW
from recordmill.packing.recode import Recoding, recode_image, recode_png_files
from recordmill.schema import KINDS, Feature, Kind, Schema
from recordmill.shards.parsed import Column, ParsedRecords
from recordmill.suggestions import suggest_name
from recordmill.types import Ragged

_IMAGE_NAMES = ("image", "images", "image/encoded", "jpg", "png", "payload")
# Maps each numeric field of an image record to the number type that the field stores.
_IRHEADER_KINDS: dict[str, Kind] = {"label": "float32", "id": "uint64", "id2": "uint64"}


@dataclass(frozen=True, slots=True)
class Changes:
    """Options that change the features of records.

    Parameters
    ----------
    select : tuple of str or None
        Names of the features to keep; None for all.
    drop : tuple of str
    rename : dict of str to str
        New name by old name.
    cast : dict of str to str
        New kind by old name.
    recoding : Recoding or None
        How images are encoded.
    image_feature : str or None
        Old name of the image; by default, it is found by its usual names.
    """

    select: tuple[str, ...] | None = None
    drop: tuple[str, ...] = ()
    rename: Mapping[str, str] = field(default_factory=dict)
    cast: Mapping[str, str] = field(default_factory=dict)
    recoding: Recoding | None = None
    image_feature: str | None = None

    def __post_init__(self) -> None:
        """Raise ValueError if `cast` contains an unknown number type."""
        for name, kind in self.cast.items():
            if kind not in get_args(Kind) or kind == "bytes":
                numbers = ", ".join(known for known in KINDS if known != "bytes")
                raise ValueError(f"cast of {name!r} must be one of {numbers}, got {kind!r}")

    @property
    def is_empty(self) -> bool:
        """True if payloads can be copied without parsing them."""
        return self == Changes(image_feature=self.image_feature)

    def check(self, schema: Mapping[str, Feature]) -> None:
        """Raise FeatureError if a name is not in the schema, or a change cannot be applied."""
        options: dict[str, Sequence[str]] = {
            "select": self.select or (),
            "drop": self.drop,
            "rename": tuple(self.rename),
            "cast": tuple(self.cast),
            "image_feature": () if self.image_feature is None else (self.image_feature,),
        }
        for option, names in options.items():
            for name in names:
                if name not in schema:
                    raise _unknown_feature_error(option, name, schema)
        for name in self.cast:
            if schema[name].kind == "bytes":
                message = f"feature {name!r} cannot be cast, because it is not a number"
                raise FeatureError(message, kind="feature_mismatch", feature=name, expected="a number", found="bytes")
        if self.recoding is not None:
            self.find_image(schema)
        self.change_schema(schema)

    def _is_kept(self, name: str) -> bool:
        return (self.select is None or name in self.select) and name not in self.drop

    def change_schema(self, schema: Mapping[str, Feature]) -> Schema:
        """Return the features after all changes."""
        changed: dict[str, Feature] = {}
        for name, feature in schema.items():
            if self._is_kept(name):
                new_name = self.rename.get(name, name)
                if new_name in changed:
                    message = f"two features would be named {new_name!r}"
                    raise FeatureError(message, kind="feature_mismatch", feature=new_name, hint="rename one of them")
                kind: Any = self.cast.get(name, feature.kind)
                changed[new_name] = feature if kind == feature.kind else replace(feature, kind=kind, default=None)
        return Schema(changed)

    def find_image(self, schema: Mapping[str, Feature]) -> str:
        """Return the name of the image feature.

        It is `image_feature` if given, else a bytes feature with a common image name, else the only bytes feature.
        """
        if self.image_feature is not None:
            return self.image_feature
        names = [name for name, feature in schema.items() if feature.kind == "bytes" and not feature.sequence]
        usual = [name for name in _IMAGE_NAMES if name in names]
        if usual or len(names) == 1:
            return (usual or names)[0]
        raise FeatureError(
            "it is not clear which feature is the image",
            kind="feature_mismatch",
            expected="a feature named image, or a single feature of bytes",
            found=", ".join(names) or "no feature of bytes",
            hint="pass the name of the image with image_feature=...",
        )

    def apply(self, records: ParsedRecords) -> ParsedRecords:
        """Return the columns of records after the changes; unchanged columns are not copied."""
        source = records.columns
        image = None if self.recoding is None else self.find_image(records.schema)
        columns: dict[str, Column] = {}
        for name, column in source.items():
            if not self._is_kept(name):
                continue
            kind, changed = self.cast.get(name, column.feature.kind), column
            if kind != column.feature.kind:
                changed = _cast_column(name, column, kind)
            if name == image and self.recoding is not None:
                changed = _encode_images(column, self.recoding)
            columns[self.rename.get(name, name)] = changed
        return replace(records, columns=columns)


def _unknown_feature_error(option: str, name: str, schema: Mapping[str, Feature]) -> FeatureError:
    similar = suggest_name(name, schema)
    return FeatureError(
        f"{option} contains {name!r}, which is not a feature of the records",
        kind="feature_mismatch",
        feature=name,
        expected=", ".join(schema),
        found=name,
        hint=f"did you mean {similar!r}?" if similar else None,
    )


def _cast_column(name: str, column: Column, kind: Any) -> Column:
    numbers = cast_numbers(name, column.numbers(), kind)
    return replace(column, feature=replace(column.feature, kind=kind), values=numbers)


def cast_numbers(name: str, numbers: NDArray[Any], kind: str) -> NDArray[Any]:
    """Convert numbers to another type; raise FeatureError if an integer would change or a fraction would be lost."""
    inexact = np.atleast_1d(_find_inexact(numbers, kind))
    if inexact.any():
        found = np.atleast_1d(numbers)[inexact][0].item()
        raise FeatureError(
            f"a value of feature {name!r} cannot be stored as {kind}",
            kind="feature_mismatch",
            feature=name,
            expected=f"a number that {kind} can represent",
            found=repr(found),
        )
    with np.errstate(over="ignore"):
        return numbers.astype(kind)


def _find_inexact(numbers: NDArray[Any], kind: str) -> NDArray[np.bool_]:
    """Return a mask of the numbers that a conversion could change; float rounding does not count as a change."""
    target = np.dtype(kind)
    if target.kind == "f":
        if numbers.dtype.kind == "f":
            return np.zeros(numbers.shape, bool)
        limit = 1 << (np.finfo(target).nmant + 1)
        return np.asarray((numbers > limit) | (numbers < -limit if numbers.dtype.kind == "i" else False), bool)
    limits = np.iinfo(target)
    if numbers.dtype.kind == "f":
        with np.errstate(invalid="ignore"):
            inside = (numbers >= float(limits.min)) & (numbers < float(limits.max) + (limits.max < 1 << 53))
            return np.asarray(~(inside & (numbers == np.floor(numbers))), bool)
    least = limits.min if numbers.dtype.kind == "i" else 0
    most = min(int(limits.max), int(np.iinfo(numbers.dtype).max))
    least = max(int(least), int(np.iinfo(numbers.dtype).min))
    return np.asarray((numbers < least) | (numbers > most), bool)


def _encode_images(column: Column, recoding: Recoding) -> Column:
    files = column.strings()
    images, shapes = recode_png_files(files, recoding)
    if None in shapes:
        rows = [
            image if shape is not None else recode_image(data, recoding)[0] if data else data
            for data, image, shape in zip(files, images, shapes, strict=True)
        ]
        images = Ragged.from_rows(rows)
    return replace(column, values=(images.data, images.row_splits))


def check_storable(schema: Mapping[str, Feature], codec: PayloadCodec) -> None:
    """Raise FeatureError if a payload type cannot store a feature; the error names the feature."""
    if codec is RAW:
        if len(schema) != 1 or next(iter(schema.values())) != Feature("bytes"):
            names = ", ".join(schema) or "no feature"
            raise FeatureError(
                "a raw payload can only store a single feature with one byte string",
                kind="feature_mismatch",
                expected="one feature of bytes",
                found=names,
                hint="choose one feature of bytes with select=[...]",
            )
        return
    kinds: Sequence[str] = getattr(codec, "kinds", ())
    for name, feature in schema.items():
        if feature.sequence and codec.name != "sequence_example":
            raise _not_storable_error(name, codec, "no feature list", "a feature list", "")
        if codec.name == "irheader" and feature.kind != "bytes":
            _check_irheader_field(name, feature, codec)
        elif feature.kind not in kinds:
            raise _not_storable_error(name, codec, " or ".join(kinds), feature.kind, _cast_hint(feature.kind, kinds))
    if codec.name == "irheader":
        _check_irheader_data(schema, codec)


def _check_irheader_field(name: str, feature: Feature, codec: PayloadCodec) -> None:
    kind = _IRHEADER_KINDS.get(name)
    if kind is None:
        fields = "one feature of bytes, label, id, id2"
        raise _not_storable_error(name, codec, fields, name, "")
    if feature.kind != kind:
        raise _not_storable_error(name, codec, kind, feature.kind, f"cast= to convert it to {kind}, ")
    if name != "label" and feature.count not in (None, 1):
        raise _not_storable_error(name, codec, "one number", f"{feature.count} numbers", "")


def _check_irheader_data(schema: Mapping[str, Feature], codec: PayloadCodec) -> None:
    names = [name for name, feature in schema.items() if feature.kind == "bytes"]
    if not names:
        raise FeatureError(
            "an image record must have one feature of bytes",
            kind="feature_mismatch",
            expected="one feature of bytes",
            found=", ".join(schema) or "no feature",
            hint="choose another payload",
        )
    if len(names) > 1:
        raise _not_storable_error(names[1], codec, "one feature of bytes", ", ".join(names), "")
    if schema[names[0]].count not in (None, 1):
        raise _not_storable_error(names[0], codec, "one byte string", f"{schema[names[0]].count}", "")


def _cast_hint(kind: str, kinds: Sequence[str]) -> str:
    target = {"int32": "int64", "uint64": "int64", "float64": "float32"}.get(kind)
    return f"cast= to convert it to {target}, " if target in kinds else ""


def _not_storable_error(name: str, codec: PayloadCodec, expected: str, found: str, hint: str) -> FeatureError:
    return FeatureError(
        f"feature {name!r} cannot be stored in a payload of type {codec.name}",
        kind="feature_mismatch",
        feature=name,
        expected=expected,
        found=found,
        hint=f"use {hint}drop= to omit the feature, or another payload",
    )
