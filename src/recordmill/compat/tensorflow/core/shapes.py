"""Static shapes, in which a length or the number of axes may be unknown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any


class TensorShape:
    """Lengths of the axes; None where a length, or all of them, is not known."""

    __slots__ = ("_dims",)

    def __init__(self, dims: Any) -> None:
        self._dims: tuple[int | None, ...] | None = _dims_of(dims)

    @property
    def rank(self) -> int | None:
        """Number of axes; None if unknown."""
        return None if self._dims is None else len(self._dims)

    ndims = rank

    @property
    def dims(self) -> list[int | None] | None:
        """Lengths; None if the number of axes is unknown."""
        return None if self._dims is None else list(self._dims)

    def as_list(self) -> list[int | None]:
        """Lengths of the axes."""
        return list(self._known())

    def num_elements(self) -> int | None:
        """Product of the lengths."""
        if not self.is_fully_defined():
            return None
        product = 1
        for length in self._known():
            product *= length or 0
        return product

    def is_fully_defined(self) -> bool:
        """Whether every length is known."""
        return self._dims is not None and None not in self._dims

    def is_compatible_with(self, other: Any) -> bool:
        """Whether one array could have both shapes."""
        theirs = TensorShape(other)._dims
        if self._dims is None or theirs is None:
            return True
        pairs = zip(self._dims, theirs, strict=False)
        return len(self._dims) == len(theirs) and all(a is None or b is None or a == b for a, b in pairs)

    def assert_is_compatible_with(self, other: Any) -> None:
        """Raise ValueError unless one array could have both shapes."""
        if not self.is_compatible_with(other):
            raise ValueError(f"Shapes {self} and {TensorShape(other)} are incompatible")

    def assert_has_rank(self, rank: int) -> None:
        """Raise ValueError if the number of axes is known, and another."""
        if self.rank not in (None, rank):
            raise ValueError(f"Shape {self} must have rank {rank}")

    def assert_is_fully_defined(self) -> None:
        """Raise ValueError unless every length is known."""
        if not self.is_fully_defined():
            raise ValueError(f"Shape {self} is not fully defined")

    def merge_with(self, other: Any) -> TensorShape:
        """What is known of a length by one shape or the other."""
        theirs = TensorShape(other)
        self.assert_is_compatible_with(theirs)
        if self._dims is None or theirs._dims is None:
            return theirs if self._dims is None else self
        return TensorShape([b if a is None else a for a, b in zip(self._dims, theirs._dims, strict=True)])

    def with_rank(self, rank: int) -> TensorShape:
        """The shape, which has that number of axes."""
        self.assert_has_rank(rank)
        return TensorShape([None] * rank) if self._dims is None else self

    def _known(self) -> tuple[int | None, ...]:
        if self._dims is None:
            raise ValueError("as_list() is not defined on an unknown TensorShape.")
        return self._dims

    def __len__(self) -> int:
        """Return the number of axes."""
        if self._dims is None:
            raise ValueError("Cannot take the length of shape with unknown rank.")
        return len(self._dims)

    def __bool__(self) -> bool:
        """Whether the number of axes is known."""
        return self._dims is not None

    def __iter__(self) -> Iterator[int | None]:
        """Iterate over the lengths."""
        return iter(self._known())

    def __getitem__(self, key: int | slice) -> Any:
        """Length of an axis, or the shape of several."""
        found = self._known()[key]
        return TensorShape(found) if isinstance(key, slice) else found

    def __add__(self, other: Any) -> TensorShape:
        """Axes of one after those of the other."""
        theirs = TensorShape(other)._dims
        return TensorShape(None if self._dims is None or theirs is None else self._dims + theirs)

    concatenate = __add__

    def __eq__(self, other: object) -> bool:
        """Compare with a shape or with what makes one."""
        try:
            return self._dims == TensorShape(other)._dims
        except TypeError:
            return False

    def __hash__(self) -> int:
        """Hash of the lengths."""
        return hash(self._dims)

    def __repr__(self) -> str:
        """TensorFlow's spelling."""
        return f"TensorShape({None if self._dims is None else list(self._dims)})"

    def __str__(self) -> str:
        """TensorFlow's spelling in messages."""
        if self._dims is None:
            return "<unknown>"
        inner = ", ".join(str(length) for length in self._dims)
        return f"({inner},)" if len(self._dims) == 1 else f"({inner})"


def _dims_of(dims: Any) -> tuple[int | None, ...] | None:
    if dims is None or isinstance(dims, TensorShape):
        return None if dims is None else dims._dims
    if not isinstance(dims, Sequence):
        try:
            dims = [dims.__index__()] if hasattr(dims, "__index__") else list(dims)
        except TypeError:
            raise TypeError(f"Dimension value must be integer or None, not {dims!r}") from None
    return tuple(_length(one) for one in dims)


def _length(value: Any) -> int | None:
    if value is None:
        return None
    if isinstance(value, str | bytes | float) or not hasattr(value, "__index__"):
        raise TypeError(f"Dimension value must be integer or None or have an __index__ method, got value {value!r}")
    length = int(value.__index__())
    if length < 0:
        raise ValueError(f"Dimension {length} must be >= 0")
    return length
