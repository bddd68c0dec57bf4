"""Convert feature values of examples to columns for the native serializer."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.errors import FeatureError
from recordmill.schema import Feature, Kind
from recordmill.types import FeatureList, Ragged

_NUMBER_KINDS: tuple[tuple[type[np.generic], tuple[Kind, ...]], ...] = (
    (np.bool_, ("int64",)),
    (np.int32, ("int32", "int64")),
    (np.int16, ("int32", "int64")),
    (np.int8, ("int32", "int64")),
    (np.uint8, ("int32", "int64")),
    (np.uint16, ("int32", "int64")),
    (np.integer, ("int64",)),
    (np.float64, ("float64", "float32")),
    (np.floating, ("float32",)),
)


@dataclass(slots=True)
class ColumnArgs:
    """One column for ``_core.serialize``, which reads the attributes by name."""

    name: bytes
    lists: bool
    kind: str
    values: Any
    fixed: int | None
    row_splits: Any
    frame_splits: Any
    present: Any
    scalar: bool


def column(
    name: str, values: Sequence[Any], feature: Feature | None, kinds: Collection[str], usual: Kind = "int64"
) -> ColumnArgs:
    """Convert one feature of many examples to a column.

    Parameters
    ----------
    name : str
    values : sequence
        One entry per example; None if the example does not have the feature.
    feature : Feature or None
        Its entry in the schema.
    kinds : collection of str
        Feature kinds that the payload can hold.
    usual : str
        Kind of a feature that has only empty lists; a float kind also applies if there are only integers.

    Returns
    -------
    ColumnArgs

    Raises
    ------
    FeatureError
        If the payload cannot hold the kind of a value, kinds differ, or a shape does not match the schema.
    """
    present = np.fromiter((value is not None for value in values), np.uint8, len(values))
    known = [value for value in values if value is not None]
    if feature is not None and len(known) < len(values) and not feature.optional and feature.default is None:
        raise _value_error(name, "a value in every example", f"none in {len(values) - len(known)} of {len(values)}")
    lists = any(isinstance(value, FeatureList) for value in known)
    if lists and not all(isinstance(value, FeatureList) for value in known):
        raise _value_error(name, "a FeatureList in every example", "other values too")
    rows = [frame for value in known for frame in value.frames] if lists else known
    kind, flat, counts, scalar = _flatten(name, rows, feature, kinds, usual)
    splits = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
    _check_counts(name, counts, feature, lists)
    args = ColumnArgs(name.encode("utf-8", "surrogateescape"), lists, kind, flat, None, splits, None, present, scalar)
    if lists:
        frames = np.zeros(len(values) + 1, np.int64)
        np.cumsum([len(value.frames) if value is not None else 0 for value in values], out=frames[1:])
        args.row_splits, args.frame_splits = frames, splits
    elif len(known) < len(values):
        args.row_splits = np.concatenate(
            ([0], np.cumsum(np.bincount(np.flatnonzero(present), counts, len(values))))
        ).astype(np.int64)
    return args


def has_no_kind(value: Any) -> bool:
    """Return whether a value is None or an empty list, so that its kind is unknown.

    Parameters
    ----------
    value : object

    Returns
    -------
    bool
    """
    if isinstance(value, FeatureList):
        return all(map(has_no_kind, value.frames))
    return value is None or (isinstance(value, list | tuple) and not value)


def _flatten(
    name: str, rows: list[Any], feature: Feature | None, kinds: Collection[str], usual: Kind
) -> tuple[str, Any, NDArray[np.int64], bool]:
    if feature is None and all(map(has_no_kind, rows)):
        feature = Feature(usual, (None,))
    first = next((row for row in rows if not _is_empty(row)), rows[0] if rows else None)
    if _holds_bytes(first, feature):
        if "bytes" not in kinds:
            raise _value_error(name, " or ".join(kinds), "bytes")
        return ("bytes", *_flatten_bytes(name, rows))
    return _flatten_numbers(name, rows, feature, kinds, usual)


def _is_empty(row: Any) -> bool:
    return isinstance(row, list | tuple | np.ndarray) and len(row) == 0 if not _is_zero_dim(row) else False


def _is_zero_dim(row: Any) -> bool:
    return isinstance(row, np.ndarray) and row.ndim == 0


def _holds_bytes(row: Any, feature: Feature | None) -> bool:
    if feature is not None:
        return feature.kind == "bytes"
    if isinstance(row, list | tuple) and row:
        row = row[0]
    return isinstance(row, str | bytes | bytearray | memoryview) or (
        isinstance(row, np.ndarray) and row.dtype.kind in "SUO"
    )


def _flatten_bytes(name: str, rows: list[Any]) -> tuple[Any, NDArray[np.int64], bool]:
    scalar = all(isinstance(row, str | bytes | bytearray | memoryview) for row in rows)
    if scalar:
        strings, counts = rows, np.ones(len(rows), np.int64)
    else:
        lists = [_strings(name, row) for row in rows]
        strings, counts = [item for row in lists for item in row], np.array([len(row) for row in lists], np.int64)
    encoded = [_encode(name, item) for item in strings]
    ragged = Ragged.from_rows(encoded)
    return (ragged.data, ragged.row_splits), counts, scalar


def _strings(name: str, row: Any) -> list[Any]:
    if isinstance(row, str | bytes | bytearray | memoryview):
        return [row]
    try:
        return list(row)
    except TypeError:
        raise _value_error(name, "bytes or str, or a sequence of them", type(row).__name__) from None


def _encode(name: str, item: Any) -> bytes:
    if isinstance(item, str):
        return item.encode()
    if isinstance(item, bytes):
        return item
    if isinstance(item, bytearray | memoryview):
        return bytes(item)
    raise _value_error(name, "bytes or str", type(item).__name__)


def _flatten_numbers(
    name: str, rows: list[Any], feature: Feature | None, kinds: Collection[str], usual: Kind
) -> tuple[str, Any, NDArray[np.int64], bool]:
    scalar = all(isinstance(row, int | float | np.generic) or _is_zero_dim(row) for row in rows)
    try:
        arrays = [np.asarray(rows)] if scalar else [np.asarray(row) for row in rows]
    except (ValueError, OverflowError) as error:
        raise _value_error(name, "numbers of one shape", str(error)) from error
    counts = np.ones(len(rows), np.int64) if scalar else np.array([array.size for array in arrays], np.int64)
    full = [array.reshape(-1) for array in arrays if array.size]
    flat = np.concatenate(full) if full else np.zeros(0, np.int64)
    kind = feature.kind if feature is not None else _kind_of(name, flat, kinds)
    if feature is None and kind == "int64" and usual.startswith("float"):
        kind = usual
    if kind not in kinds:
        raise _value_error(name, " or ".join(kinds), kind)
    return kind, _convert(name, flat, kind), counts, scalar


def _kind_of(name: str, flat: NDArray[Any], kinds: Collection[str]) -> Kind:
    for base, choices in _NUMBER_KINDS:
        if np.issubdtype(flat.dtype, base):
            for kind in choices:
                if kind in kinds:
                    return kind
    raise _value_error(name, " or ".join(kinds), _describe_values(flat))


def _describe_values(flat: NDArray[Any]) -> str:
    if flat.dtype == object and flat.size:
        return f"values such as {flat[0]!r:.60}"
    return f"values of dtype {flat.dtype}"


def _convert(name: str, flat: NDArray[Any], kind: str) -> NDArray[Any]:
    target = np.dtype(kind)
    if flat.dtype.kind not in "biuf" or (target.kind in "iu" and flat.dtype.kind == "f"):
        raise _value_error(name, kind, _describe_values(flat))
    if target.kind in "iu" and flat.size:
        limits = np.iinfo(target)
        if int(flat.min()) < limits.min or int(flat.max()) > limits.max:
            raise _value_error(name, f"{kind} from {limits.min} to {limits.max}", f"{flat.min()} to {flat.max()}")
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(flat, dtype=target)


def _check_counts(name: str, counts: NDArray[np.int64], feature: Feature | None, lists: bool) -> None:
    if feature is None:
        return
    if feature.sequence != lists:
        raise _value_error(name, "a FeatureList" if feature.sequence else "no FeatureList", "the other")
    if feature.count is not None and (counts != feature.count).any():
        bad = int(counts[counts != feature.count][0])
        raise _value_error(name, f"{feature.count} values of shape {feature.shape}", f"{bad} values")


def _value_error(name: str, expected: str, found: str) -> FeatureError:
    return FeatureError(f"feature {name!r} cannot be stored", kind="feature_mismatch", expected=expected, found=found)
