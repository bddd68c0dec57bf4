"""Padding of features whose rows have different shapes, for ``batch(ragged="pad")``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from recordmill.errors import FeatureError
from recordmill.pipeline.checks import check_integer, set_fields
from recordmill.types import Ragged

Locate = Callable[[int], Mapping[str, Any]]
Sizes = int | tuple[int | None, ...]
Scalar = bool | int | float | complex | str | bytes | np.generic
PadValue = Scalar | Mapping[str, Scalar]
PadSizes = int | Mapping[str, Sizes] | None


@dataclass(frozen=True, slots=True)
class Padding:
    """Options of padding: pad values and target sizes.

    Mappings are stored as tuples of pairs (feature, option), because stages are hashable.

    Parameters
    ----------
    value : scalar, or mapping of str to scalar
        Value that fills the rest of a row.
    to : int, or mapping of str to int or tuple, optional
        Size of every ragged axis. A tuple has one entry per axis of a sample; None stands for the longest row.
    multiple_of : int, or mapping of str to int or tuple, optional
        Round the size of every ragged axis up to the next multiple of this number.
    named : frozenset of str
        Features that an option names. Byte strings, and rows of equal shape, are padded only in these features.
    """

    value: Any = 0
    to: Any = None
    multiple_of: Any = None
    named: frozenset[str] = field(init=False, compare=False)

    def __post_init__(self) -> None:
        """Raise ValueError if an option is invalid."""
        if self.to is not None and not isinstance(self.to, Mapping | tuple) and self.multiple_of is not None:
            raise ValueError(
                "pad_to_multiple_of cannot be combined with one pad_to for all features; pass a dict as pad_to"
            )
        set_fields(
            self,
            value=_normalize_option(self.value, _check_pad_value),
            to=_normalize_option(self.to, lambda sizes: _check_sizes(sizes, "pad_to", 0)),
            multiple_of=_normalize_option(self.multiple_of, lambda sizes: _check_sizes(sizes, "pad_to_multiple_of", 1)),
        )
        for setting in (self.to, self.multiple_of):
            if isinstance(setting, tuple) and not all(isinstance(pair, tuple) and len(pair) == 2 for pair in setting):
                raise ValueError(
                    "in pad_to and pad_to_multiple_of, sizes per axis must be a dict from feature names to tuples, "
                    f"such as {{'image': {setting}}}"
                )
        settings = self._collect_options().values()
        set_fields(self, named=frozenset(name for setting in settings for name in _list_names(setting)))

    def check_names(self, names: Iterable[str]) -> None:
        """Raise FeatureError if an option names a feature that the samples do not have."""
        if not self.named:
            return
        known = [*names]
        for option, setting in self._collect_options().items():
            for name in _list_names(setting):
                if name not in known:
                    raise FeatureError(
                        f"{option} names the feature {name!r}, which is not in the samples",
                        feature=name,
                        kind="feature_mismatch",
                        expected=", ".join(known),
                        found=name,
                    )

    def _collect_options(self) -> dict[str, Any]:
        return {"pad_value": self.value, "pad_to": self.to, "pad_to_multiple_of": self.multiple_of}

    def pad_ragged(self, name: str, column: Ragged, locate: Locate) -> NDArray[Any]:
        """Pad every level of a Ragged with the native module."""
        levels = _list_nested_raggeds(column)
        data: NDArray[Any] = levels[-1].data
        fill = self._choose_pad_value(name, data.dtype)
        has_sizes = self.to is not None or self.multiple_of is not None
        sizes: list[int] = self._choose_ragged_sizes(name, levels, locate) if has_sizes else []
        lengths: Sequence[int | None] = sizes[: len(levels)] or [None] * len(levels)
        padded = data
        for level, length in zip(reversed(levels), reversed(lengths), strict=True):
            padded = Ragged(padded, level.row_splits).to_padded(fill, length)
        return _pad_to_sizes(padded, sizes, fill) if sizes and sizes != [*padded.shape[1:]] else padded

    def _choose_ragged_sizes(self, name: str, levels: list[Ragged], locate: Locate) -> list[int]:
        counts = [np.diff(level.row_splits) for level in levels]
        longest = [*(int(count.max(initial=0)) for count in counts), *levels[-1].data.shape[1:]]
        ragged = [axis < len(levels) for axis in range(len(longest))]
        sizes = self._choose_sizes(name, longest, ragged, is_declared=True)
        for axis, size in enumerate(sizes):
            if size < longest[axis]:
                row = _find_outermost_row(levels[:axis], int(np.argmax(counts[axis] > size))) if ragged[axis] else 0
                _raise_too_long(name, row, _find_row_shape(levels[0][row : row + 1]), size, axis, locate)
        return sizes

    def pad_arrays(self, name: str, rows: Sequence[NDArray[Any]], locate: Locate) -> NDArray[Any]:
        """Pad arrays of the same dtype on every axis on which their sizes differ."""
        _check_dtypes_and_axes(name, rows, locate)
        shapes = np.array([row.shape for row in rows], np.int64)
        longest, ragged = shapes.max(axis=0).tolist(), (shapes != shapes[0]).any(axis=0).tolist()
        sizes = self._choose_sizes(name, longest, ragged, is_declared=False)
        for axis, size in enumerate(sizes):
            if size < longest[axis]:
                row = int(np.argmax(shapes[:, axis] > size))
                _raise_too_long(name, row, rows[row].shape, size, axis, locate)
        fill = self._choose_pad_value(name, rows[0].dtype)
        if not any(ragged[1:]) and sizes[1:] == longest[1:] and not rows[0].dtype.hasobject:
            return Ragged.from_rows([*rows]).to_padded(fill, sizes[0])
        padded = np.full((len(rows), *sizes), fill, rows[0].dtype)
        for target, array in zip(padded, rows, strict=True):
            target[tuple(slice(size) for size in array.shape)] = array
        return padded

    def pad_equal_arrays(self, name: str, column: NDArray[Any], locate: Locate) -> NDArray[Any]:
        """Pad the rows of an array, all of the same shape, to the sizes that the options request."""
        longest = [*column.shape[1:]]
        sizes = self._choose_sizes(name, longest, [False] * len(longest), is_declared=False)
        for axis, size in enumerate(sizes):
            if size < longest[axis]:
                _raise_too_long(name, 0, column.shape[1:], size, axis, locate if len(column) else lambda _: {})
        return column if sizes == longest else _pad_to_sizes(column, sizes, self._choose_pad_value(name, column.dtype))

    def _choose_sizes(self, name: str, longest: list[int], ragged: list[bool], *, is_declared: bool) -> list[int]:
        """Return the size of each axis of a sample after padding."""
        targets = _list_axis_sizes("pad_to", self.to, name, ragged, is_declared=is_declared)
        multiples = _list_axis_sizes("pad_to_multiple_of", self.multiple_of, name, ragged, is_declared=is_declared)
        return [
            target if target is not None else -(-size // (multiple or 1)) * (multiple or 1)
            for size, target, multiple in zip(longest, targets, multiples, strict=True)
        ]

    def _choose_pad_value(self, name: str, dtype: np.dtype[Any]) -> Any:
        """Return the pad value of a feature; raise FeatureError if its dtype cannot represent it."""
        named = dict(self.value) if _is_option_by_feature(self.value) else None
        value = self.value if named is None else named.get(name, 0)
        if dtype.kind in "SU" and (named is None or name not in named):
            return np.zeros((), dtype)[()]
        if not _is_representable(value, dtype):
            raise FeatureError(
                f"the pad value {value!r} of feature {name!r} cannot be represented as {dtype}",
                feature=name,
                kind="feature_mismatch",
                hint="pad_value={name: value} sets the value of one feature",
            )
        return value

    def __repr__(self) -> str:
        """Return the options that differ from the defaults, as arguments of `batch`."""
        defaults = {"pad_value": 0, "pad_to": None, "pad_to_multiple_of": None}
        return "".join(
            f", {option}={dict(setting) if _is_option_by_feature(setting) else setting!r}"
            for option, setting in self._collect_options().items()
            if setting is not defaults[option] and setting != defaults[option]
        )


def _list_names(setting: Any) -> list[str]:
    return [name for name, _ in setting] if _is_option_by_feature(setting) else []


def _is_option_by_feature(setting: Any) -> bool:
    return isinstance(setting, tuple)


def _normalize_option(setting: Any, check: Callable[[Any], Any]) -> Any:
    """Check a padding option. Convert a mapping to a tuple of (feature, value) pairs."""
    if isinstance(setting, Mapping):
        return tuple((name, check(value)) for name, value in setting.items())
    if isinstance(setting, tuple) and all(isinstance(pair, tuple) and isinstance(pair[0], str) for pair in setting):
        return setting  # Already converted: `dataclasses.replace` copies this field from another `Padding`.
    return check(setting)


def _check_pad_value(value: Any) -> Any:
    if not isinstance(value, Scalar):
        raise TypeError(f"pad_value must be a number, a string, or a dict from feature names to these, got {value!r}")
    return value.item() if isinstance(value, np.generic) else value


def _check_sizes(sizes: Any, option: str, minimum: int) -> Sizes | None:
    if sizes is None:
        return None
    requirement = (
        f"{option} must be an integer of at least {minimum}, or a dict from feature names to integers or tuples"
    )
    if isinstance(sizes, tuple | list):
        return tuple(None if size is None else check_integer(size, requirement, minimum) for size in sizes)
    return check_integer(sizes, requirement, minimum)


def _list_axis_sizes(
    option: str, setting: Any, name: str, ragged: list[bool], *, is_declared: bool
) -> Sequence[int | None]:
    """Return the value of an option for each axis of a sample; None for axes on which it has no effect."""
    sizes = dict(setting).get(name) if _is_option_by_feature(setting) else setting
    if isinstance(sizes, tuple):
        if len(sizes) != len(ragged):
            raise FeatureError(
                f"{option} of feature {name!r} must have one size per axis of a sample",
                feature=name,
                kind="feature_mismatch",
                expected=f"{len(ragged)} sizes",
                found=str(sizes),
            )
        return sizes
    if sizes is not None and _is_option_by_feature(setting) and not is_declared:
        if len(ragged) > 1:
            # The shape must not depend on which axes happen to be ragged in this batch.
            raise FeatureError(
                f"{option} of feature {name!r} must be a tuple, because its samples have {len(ragged)} axes",
                feature=name,
                kind="feature_mismatch",
                hint="use None for an axis to pad it to the longest row of the batch",
            )
        return [sizes]
    return [sizes if is_ragged else None for is_ragged in ragged]


def _check_dtypes_and_axes(name: str, rows: Sequence[NDArray[Any]], locate: Locate) -> None:
    """Raise FeatureError unless all rows have the same dtype and number of axes."""
    first = rows[0]
    for number, row in enumerate(rows):
        if row.dtype != first.dtype or row.ndim != first.ndim:
            raise FeatureError(
                f"feature {name!r} cannot be padded, because its dtype or number of axes differs within the batch",
                feature=name,
                kind="feature_mismatch",
                expected=f"{first.dtype} with {first.ndim} axes, as in the first sample",
                found=f"{row.dtype} of shape {row.shape}",
                **locate(number),
            )


def _raise_too_long(name: str, row: int, shape: tuple[int, ...], size: int, axis: int, locate: Locate) -> NoReturn:
    raise FeatureError(
        f"feature {name!r} is longer than pad_to",
        feature=name,
        kind="feature_mismatch",
        expected=f"at most {size} on axis {axis}",
        found=f"shape {shape}",
        hint="use a larger pad_to, or shorten the feature with map before batch",
        **locate(row),
    )


def _list_nested_raggeds(column: Ragged) -> list[Ragged]:
    """Return a Ragged and the Raggeds inside it, from the outermost to the innermost."""
    levels = [column]
    while isinstance(levels[-1].data, Ragged):
        levels.append(levels[-1].data)
    return levels


def _find_outermost_row(levels: Sequence[Ragged], inner_row: int) -> int:
    """Convert the index of an inner row to the index of the outermost row that contains it.

    `levels` are the levels around the inner row, the outermost first.
    """
    for level in reversed(levels):
        inner_row = int(np.searchsorted(level.row_splits, inner_row, "right")) - 1
    return inner_row


def _find_row_shape(row: Ragged) -> tuple[int, ...]:
    """Return the smallest array shape that can hold a ragged row. `row` is a Ragged with one row."""
    levels = _list_nested_raggeds(row)
    counts = (int(np.diff(level.row_splits).max(initial=0)) for level in levels)
    return (*counts, *levels[-1].data.shape[1:])


def _pad_to_sizes(padded: NDArray[Any], sizes: list[int], fill: Any) -> NDArray[Any]:
    """Pad every sample in an array to the shape `sizes`, with `fill` as the pad value."""
    larger = np.full((len(padded), *sizes), fill, padded.dtype)
    larger[tuple(slice(size) for size in padded.shape)] = padded
    return larger


def _is_representable(value: Any, dtype: np.dtype[Any]) -> bool:
    if dtype.kind in "biufc" and type(value) is int and value == 0:  # 0 is the default pad value.
        return True
    if dtype.kind in "fc":
        is_number = isinstance(value, (bool, int, float, complex)[: 4 if dtype.kind == "c" else 3])
        return is_number and bool(np.isfinite(_convert_to_dtype(value, dtype)) == np.isfinite(value))
    try:
        return bool(_convert_to_dtype(value, dtype) == value) or dtype.kind not in "biuSU"
    except (TypeError, ValueError, OverflowError):
        return False


def _convert_to_dtype(value: Any, dtype: np.dtype[Any]) -> Any:
    with np.errstate(all="ignore"):
        return np.asarray(value).astype(dtype)
