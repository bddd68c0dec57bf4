"""``tf.TensorShape``: static shapes, in which an axis length or the number of axes may be unknown."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any


class TensorShape:
    """Lengths of a tensor's axes. Any length may be unknown, and so may the number of axes."""

    __slots__ = ("_dims",)

    def __init__(self, dims: Any) -> None:
        self._dims: tuple[int | None, ...] | None = _parse_dims(dims)

    @property
    def rank(self) -> int | None:
        """Number of axes, or None if unknown."""
        return None if self._dims is None else len(self._dims)

    ndims = rank

    @property
    def dims(self) -> list[int | None] | None:
        """Lengths of the axes, or None if their number is unknown."""
        return None if self._dims is None else list(self._dims)

    def as_list(self) -> list[int | None]:
        """Return the lengths of the axes; raise ValueError if their number is unknown."""
        return list(self._require_dims())

    def num_elements(self) -> int | None:
        """Return the product of the lengths, or None if one is unknown."""
        return math.prod(length or 0 for length in self._require_dims()) if self.is_fully_defined() else None

    def is_fully_defined(self) -> bool:
        """Return whether every length is known."""
        return self._dims is not None and None not in self._dims

    def is_compatible_with(self, other: Any) -> bool:
        """Return whether one array could have both shapes."""
        dims = TensorShape(other)._dims
        if self._dims is None or dims is None:
            return True
        pairs = zip(self._dims, dims, strict=False)
        return len(self._dims) == len(dims) and all(a is None or b is None or a == b for a, b in pairs)

    def assert_is_compatible_with(self, other: Any) -> None:
        """Raise ValueError unless one array could have both shapes."""
        if not self.is_compatible_with(other):
            raise ValueError(f"Shapes {self} and {TensorShape(other)} are incompatible")

    def assert_has_rank(self, rank: int) -> None:
        """Raise ValueError if the number of axes is known and is not `rank`."""
        if self.rank not in (None, rank):
            raise ValueError(f"Shape {self} must have rank {rank}")

    def assert_is_fully_defined(self) -> None:
        """Raise ValueError unless every length is known."""
        if not self.is_fully_defined():
            raise ValueError(f"Shape {self} is not fully defined")

    def merge_with(self, other: Any) -> TensorShape:
        """Combine two compatible shapes; a length is known if either shape specifies it."""
        merged = TensorShape(other)
        self.assert_is_compatible_with(merged)
        if self._dims is None or merged._dims is None:
            return merged if self._dims is None else self
        return TensorShape([b if a is None else a for a, b in zip(self._dims, merged._dims, strict=True)])

    def with_rank(self, rank: int) -> TensorShape:
        """Return the shape; raise ValueError if its number of axes is known and is not `rank`."""
        self.assert_has_rank(rank)
        return TensorShape([None] * rank) if self._dims is None else self

    def _require_dims(self) -> tuple[int | None, ...]:
        if self._dims is None:
            raise ValueError("as_list() is not defined on an unknown TensorShape.")
        return self._dims

    def __len__(self) -> int:
        if self._dims is None:
            raise ValueError("Cannot take the length of shape with unknown rank.")
        return len(self._dims)

    def __bool__(self) -> bool:
        """Return whether the number of axes is known."""
        return self._dims is not None

    def __iter__(self) -> Iterator[int | None]:
        return iter(self._require_dims())

    def __getitem__(self, key: int | slice) -> Any:
        """Return the length of an axis, or the shape of a slice of axes."""
        found = self._require_dims()[key]
        return TensorShape(found) if isinstance(key, slice) else found

    def __add__(self, other: Any) -> TensorShape:
        """Concatenate the axes of two shapes."""
        dims = TensorShape(other)._dims
        return TensorShape(None if self._dims is None or dims is None else self._dims + dims)

    concatenate = __add__

    def __eq__(self, other: object) -> bool:
        try:
            return self._dims == TensorShape(other)._dims
        except TypeError:
            return False

    def __hash__(self) -> int:
        return hash(self._dims)

    def __repr__(self) -> str:
        return f"TensorShape({None if self._dims is None else list(self._dims)})"

    def __str__(self) -> str:
        return "<unknown>" if self._dims is None else str(self._dims)


def _parse_dims(dims: Any) -> tuple[int | None, ...] | None:
    if dims is None or isinstance(dims, TensorShape):
        return None if dims is None else dims._dims
    if not isinstance(dims, Sequence):
        try:
            dims = [dims.__index__()] if hasattr(dims, "__index__") else list(dims)
        except TypeError:
            raise TypeError(f"dimension must be an integer or None, got {dims!r}") from None
    return tuple(_parse_length(length) for length in dims)


def _parse_length(value: Any) -> int | None:
    if value is None:
        return None
    if isinstance(value, str | bytes | float) or not hasattr(value, "__index__"):
        raise TypeError(f"dimension must be an integer or None, got {value!r}")
    length = int(value.__index__())
    if length < 0:
        raise ValueError(f"dimension must be >= 0, got {length}")
    return length
