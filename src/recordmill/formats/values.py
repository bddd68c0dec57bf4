"""Convert feature values of examples to columns for the native serializer."""

from __future__ import annotations

import reprlib
from collections.abc import Collection, Iterable, Sequence
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

_FLOAT_TYPES = frozenset((float, np.float64, np.float32, np.float16))
_SHOWN_BYTES = 16
_SHORT_REPR = reprlib.Repr()
_SHORT_REPR.maxstring = _SHORT_REPR.maxother = _SHORT_REPR.maxlong = 60


@dataclass(slots=True)
class ColumnArgs:
    """One feature of many examples. The native function ``_core.serialize`` reads the attributes of this class."""

    name: bytes
    lists: bool
    kind: str
    values: Any
    fixed: int | None
    row_splits: Any
    frame_splits: Any
    present: Any
    scalar: bool


def convert_to_column(
    name: str, values: Sequence[Any], feature: Feature | None, kinds: Collection[str], known: Feature | None = None
) -> ColumnArgs:
    """Convert the values of one feature in many examples to a column.

    Parameters
    ----------
    name : str
    values : sequence
        One entry per example; None if the example does not have the feature.
    feature : Feature or None
        Entry of the feature in the schema.
    kinds : collection of str
        Feature kinds that the payload can hold.
    known : Feature, optional
        The feature in earlier examples, used if the schema has no entry for it. New values must have the same kind.

    Returns
    -------
    ColumnArgs

    Raises
    ------
    FeatureError
        If the payload cannot hold the kind of a value, kinds differ, a shape does not match the schema, or an integer
        would be changed by its conversion to float.
    """
    present = np.fromiter((value is not None for value in values), np.uint8, len(values))
    rows = [value for value in values if value is not None]
    if feature is not None and len(rows) < len(values) and not feature.optional and feature.default is None:
        raise _value_error(name, "a value in every example", "none")
    lists = any(isinstance(value, FeatureList) for value in rows)
    if lists and not all(isinstance(value, FeatureList) for value in rows):
        raise _value_error(name, "a FeatureList in every example or in none")
    declared = feature or known
    if declared is not None and declared.sequence != lists:
        raise _value_error(name, "a FeatureList" if declared.sequence else "no FeatureList")
    kind, flat, counts, scalar = _flatten_values(
        name, [frame for value in rows for frame in value.frames] if lists else rows, feature, kinds, known
    )
    splits = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
    _check_value_counts(name, counts, feature)
    args = ColumnArgs(name.encode("utf-8", "surrogateescape"), lists, kind, flat, None, splits, None, present, scalar)
    if lists:
        frames = np.zeros(len(values) + 1, np.int64)
        np.cumsum([len(value.frames) if value is not None else 0 for value in values], out=frames[1:])
        args.row_splits, args.frame_splits = frames, splits
    elif len(rows) < len(values):
        args.row_splits = np.concatenate(
            ([0], np.cumsum(np.bincount(np.flatnonzero(present), counts, len(values))))
        ).astype(np.int64)
    return args


def has_unknown_kind(value: Any) -> bool:
    """Return True if the kind of a value is unknown, because the value is None or an empty list.

    Parameters
    ----------
    value : object

    Returns
    -------
    bool
    """
    if isinstance(value, FeatureList):
        return all(map(has_unknown_kind, value.frames))
    return value is None or (isinstance(value, list | tuple) and not value)


def short_repr(value: Any) -> str:
    """Return the representation of a value for an error message, shortened if it is long.

    Parameters
    ----------
    value : object

    Returns
    -------
    str
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bytes | bytearray | memoryview) and len(value) > _SHOWN_BYTES:
        return f"{bytes(value[:_SHOWN_BYTES])!r}... ({len(value):,} bytes)"
    return _SHORT_REPR.repr(value)


def _flatten_values(
    name: str, rows: list[Any], feature: Feature | None, kinds: Collection[str], known: Feature | None
) -> tuple[str, Any, NDArray[np.int64], bool]:
    if feature is None and all(map(has_unknown_kind, rows)):
        feature = Feature("int64" if known is None else known.kind, (None,))
    first = next((row for row in rows if not _is_empty_row(row)), rows[0] if rows else None)
    holds_bytes = feature.kind == "bytes" if feature is not None else _holds_bytes(first)
    if holds_bytes:
        if "bytes" not in kinds:
            raise _value_error(name, " or ".join(kinds))
        if feature is None and known is not None and known.kind != "bytes":
            raise _value_error(name, known.kind, hint=_schema_hint(name, known.kind))
        return ("bytes", *_flatten_bytes(name, rows))
    return _flatten_numbers(name, rows, feature, kinds, known)


def _is_empty_row(row: Any) -> bool:
    return isinstance(row, list | tuple | np.ndarray) and len(row) == 0 if not _is_zero_dim_array(row) else False


def _is_zero_dim_array(row: Any) -> bool:
    return isinstance(row, np.ndarray) and row.ndim == 0


def _holds_bytes(row: Any) -> bool:
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
        lists = [_to_string_list(name, row) for row in rows]
        strings, counts = [item for row in lists for item in row], np.array([len(row) for row in lists], np.int64)
    encoded = [_encode_string(name, item) for item in strings]
    ragged = Ragged.from_rows(encoded)
    return (ragged.data, ragged.row_splits), counts, scalar


def _to_string_list(name: str, row: Any) -> list[Any]:
    if isinstance(row, str | bytes | bytearray | memoryview):
        return [row]
    try:
        return list(row)
    except TypeError:
        raise _value_error(name, "bytes or str, or a sequence of them", short_repr(row)) from None


def _encode_string(name: str, item: Any) -> bytes:
    if isinstance(item, str):
        return item.encode()
    if isinstance(item, bytes):
        return item
    if isinstance(item, bytearray | memoryview):
        return bytes(item)
    raise _value_error(name, "bytes or str", short_repr(item))


def _flatten_numbers(
    name: str, rows: list[Any], feature: Feature | None, kinds: Collection[str], known: Feature | None
) -> tuple[str, Any, NDArray[np.int64], bool]:
    scalar = all(isinstance(row, int | float | np.generic) or _is_zero_dim_array(row) for row in rows)
    try:
        arrays = [_to_exact_array(rows)] if scalar else [_to_exact_array(row) for row in rows]
    except (ValueError, OverflowError) as error:
        raise _value_error(name, "numbers in an array, or in nested lists of equal lengths") from error
    counts = np.ones(len(rows), np.int64) if scalar else np.array([array.size for array in arrays], np.int64)
    flat = _concatenate_exactly([array.reshape(-1) for array in arrays if array.size])
    if feature is not None:
        kind = feature.kind
    else:
        kind = _choose_kind(name, flat, kinds)
        if known is not None and kind != known.kind:
            raise _value_error(name, known.kind, hint=_schema_hint(name, known.kind))
    if kind not in kinds:
        raise _value_error(name, " or ".join(kinds))
    return kind, _convert_to_kind(name, flat, kind), counts, scalar


def _to_exact_array(row: Any) -> NDArray[Any]:
    """Convert a value to an array. A mix of integers and floats becomes an array of objects, to keep integers exact."""
    array = np.asarray(row)
    # NumPy converts integers to floats if floats are among them, or if no integer dtype can represent all integers.
    return np.asarray(row, object) if array.dtype.kind == "f" and _contains_integers(row) else array


def _contains_integers(value: Any) -> bool:
    if isinstance(value, list | tuple) and _FLOAT_TYPES.issuperset(map(type, value)):
        return False  # Comparing the types of all values is much faster than a recursive call for each value.
    if hasattr(value, "dtype") or not isinstance(value, Iterable):
        return np.asarray(value).dtype.kind in "biu"
    return any(map(_contains_integers, value))


def _concatenate_exactly(arrays: list[NDArray[Any]]) -> NDArray[Any]:
    """Concatenate arrays; if integers would become floats, return an array of objects instead."""
    if not arrays:
        return np.zeros(0, np.int64)
    flat = np.concatenate(arrays)
    if flat.dtype.kind == "f" and any(array.dtype.kind != "f" for array in arrays):
        return np.concatenate([array.astype(object) for array in arrays])
    return flat


def _choose_kind(name: str, flat: NDArray[Any], kinds: Collection[str]) -> Kind:
    """Choose a kind for a numeric feature that has no schema; raise FeatureError if none of `kinds` fits."""
    number_type = flat.dtype
    if flat.dtype == object:
        is_integer = _mark_integers(name, flat, " or ".join(kinds))
        if len(set(is_integer)) > 1:
            odd = flat[is_integer.index(not is_integer[0])]
            expected = (
                "an integer, because the earlier values are integers"
                if is_integer[0]
                else "a float, because the earlier values are floats"
            )
            raise _value_error(name, expected, short_repr(odd), hint=_schema_hint(name, "float32"))
        number_type = np.dtype(np.int64 if is_integer[0] else np.float64)
    for base, choices in _NUMBER_KINDS:
        if np.issubdtype(number_type, base):
            for kind in choices:
                if kind in kinds:
                    return kind
    raise _value_error(name, " or ".join(kinds))


def _mark_integers(name: str, flat: NDArray[Any], expected: str) -> list[bool]:
    """Return True for each integer and False for each float in `flat`; raise FeatureError for any other object."""
    types = [np.asarray(value).dtype.kind if not isinstance(value, int) else "i" for value in flat]
    for value, kind in zip(flat, types, strict=True):
        if kind not in "biuf":
            raise _value_error(name, expected, short_repr(value))
    return [kind != "f" for kind in types]


def _convert_to_kind(name: str, flat: NDArray[Any], kind: str) -> NDArray[Any]:
    """Convert numbers to dtype `kind`.

    Raise FeatureError if `kind` cannot represent an integer exactly, or if `kind` is an integer dtype and a number is a
    float.
    """
    target = np.dtype(kind)
    if flat.dtype == object:
        is_integer = _mark_integers(name, flat, kind)
        floats, integers = flat[np.logical_not(is_integer)], flat[is_integer]
    else:
        if flat.dtype.kind not in "biuf":
            raise _value_error(name, kind)
        floats, integers = (flat, flat[:0]) if flat.dtype.kind == "f" else (flat[:0], flat)
    if target.kind in "iu":
        if len(floats):
            raise _value_error(name, kind, short_repr(floats[0]))
        _check_range(name, integers, kind)
    elif len(integers):
        _check_exact_as_float(name, integers, target)
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(flat, dtype=target)


def _check_range(name: str, integers: NDArray[Any], kind: str) -> None:
    if not len(integers):
        return
    limits = np.iinfo(kind)
    least, most = int(integers.min()), int(integers.max())
    if least < limits.min or most > limits.max:
        found = least if least < limits.min else most
        raise _value_error(name, f"{kind} from {limits.min} to {limits.max}", short_repr(found))


def _check_exact_as_float(name: str, integers: NDArray[Any], target: np.dtype[Any]) -> None:
    """Raise FeatureError if `target`, a float dtype, cannot represent one of the integers exactly."""
    limit = 2 ** (np.finfo(target).nmant + 1)  # `target` represents all integers up to this limit.
    for value in integers[(integers > limit) | (integers < -limit)]:
        try:
            with np.errstate(over="ignore"):
                is_exact = int(target.type(value)) == int(value)
        except OverflowError:
            is_exact = False
        if not is_exact:
            raise _value_error(name, f"an integer that {target} represents exactly", short_repr(value))


def _check_value_counts(name: str, counts: NDArray[np.int64], feature: Feature | None) -> None:
    if feature is not None and feature.count is not None and (counts != feature.count).any():
        bad = int(counts[counts != feature.count][0])
        raise _value_error(name, f"{feature.count} values of shape {feature.shape}", f"{bad} values")


def _schema_hint(name: str, kind: str) -> str:
    return f"pass a schema that declares the kind: schema={{{name!r}: rm.Feature({kind!r})}}"


def _value_error(name: str, expected: str, found: str | None = None, hint: str | None = None) -> FeatureError:
    return FeatureError(
        f"feature {name!r} cannot be stored",
        kind="feature_mismatch",
        feature=name,
        expected=expected,
        found=found,
        hint=hint,
    )
