"""Repeated fields of plain values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Generic, SupportsIndex, TypeVar, overload

import numpy as np

from recordmill.compat.messages import wire
from recordmill.compat.messages.fields.base import UNKNOWN, Field
from recordmill.compat.messages.scalars import Scalar

if TYPE_CHECKING:
    from recordmill.compat.messages.message import Message

T = TypeVar("T")


class ScalarList(Generic[T]):
    """Values of a repeated field: a list that checks what it takes."""

    __slots__ = ("_items", "_message", "_scalar")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, scalar: Scalar[T], message: Message | None) -> None:
        self._scalar, self._message = scalar, message
        self._items: list[T] = []

    def _touch(self) -> None:
        if self._message is not None:
            self._message._touch()
            self._message = None

    def append(self, value: Any) -> None:
        """Add one value."""
        self._touch()
        self._items.append(self._scalar.check(value))

    def extend(self, values: Iterable[Any]) -> None:
        """Add values; none of them if one is refused."""
        self._touch()
        self._items += self._scalar.check_all(values)

    MergeFrom = extend

    def insert(self, place: SupportsIndex, value: Any) -> None:
        """Add one value in front of a place."""
        self._touch()
        self._items.insert(place, self._scalar.check(value))

    def remove(self, value: Any) -> None:
        """Take out the first value that equals one."""
        self._touch()
        if value not in self._items:
            raise ValueError("remove(x): x not in container")
        self._items.remove(value)

    def pop(self, place: SupportsIndex = -1) -> T:
        """Take out one value."""
        self._touch()
        return self._items.pop(place)

    def clear(self) -> None:
        """Take out all values."""
        self._items.clear()

    def reverse(self) -> None:
        """Turn the order round."""
        self._touch()
        self._items.reverse()

    def sort(self, *, key: Callable[[T], Any] | None = None, reverse: bool = False) -> None:
        """Sort in place."""
        self._items.sort(key=key, reverse=reverse)

    @overload
    def __getitem__(self, place: SupportsIndex) -> T: ...
    @overload
    def __getitem__(self, place: slice) -> list[T]: ...
    def __getitem__(self, place: SupportsIndex | slice) -> T | list[T]:
        """Value at a place, or a list of those of a slice."""
        return self._items[place]

    def __setitem__(self, place: Any, value: Any) -> None:
        """Replace a value, or those of a slice."""
        self._touch()
        if isinstance(place, slice):
            self._items[place] = self._scalar.check_all(value)
        elif -len(self._items) <= place < len(self._items):
            self._items[place] = self._scalar.check(value)
        else:
            raise IndexError("list index out of range")

    def __delitem__(self, place: SupportsIndex | slice) -> None:
        """Take out a value, or those of a slice."""
        self._touch()
        del self._items[place]

    def __len__(self) -> int:
        """Return the number of values."""
        return len(self._items)

    def __iter__(self) -> Iterator[T]:
        """Values in order."""
        return iter(self._items)

    def __contains__(self, value: object) -> bool:
        """Whether a value is there."""
        return value in self._items

    def __eq__(self, other: object) -> bool:
        """Whether another one, or a list, has equal values."""
        return self._items == (other._items if isinstance(other, ScalarList) else other)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        """Values as an array, of the field's own dtype unless another one is asked for."""
        return np.array(self._items, self._scalar.dtype if dtype is None else dtype)

    def __repr__(self) -> str:
        """Readable form, that of a list."""
        return repr(self._items)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as a list."""
        return list, (self._items,)


class Repeated(Field, Generic[T]):
    """A list of plain values; numbers are written packed."""

    def __init__(self, number: int, scalar: Scalar[T]) -> None:
        super().__init__(number)
        self.scalar = scalar
        self._packs = scalar.wire != wire.BYTES
        self._tag = wire.varint(number << 3 | wire.BYTES)

    @overload
    def __get__(self, message: None, owner: type) -> Repeated[T]: ...
    @overload
    def __get__(self, message: Message, owner: type) -> ScalarList[T]: ...
    def __get__(self, message: Message | None, owner: type) -> Repeated[T] | ScalarList[T]:
        """Values of a message."""
        if message is None:
            return self
        values: ScalarList[T] = self.shown(message)
        return values

    def make(self, message: Message) -> ScalarList[T]:
        """No values."""
        return ScalarList(self.scalar, message if message._owner is not None else None)

    def assign(self, message: Message, given: Any) -> None:
        """Values of an iterable."""
        self.value_of(message).extend(given)

    def copied(self, value: ScalarList[T]) -> ScalarList[T]:
        """Copy of the values."""
        values = ScalarList(self.scalar, None)
        values._items = value._items.copy()
        return values

    def merge(self, message: Message, value: ScalarList[T]) -> None:
        """Values behind those that are there."""
        self.value_of(message)._items.extend(value._items)

    def read(self, message: Message, data: bytes, wire_type: int, start: int, stop: int) -> int:
        """One value, or a packed list of them."""
        items = self.value_of(message)._items
        if wire_type == self.scalar.wire:
            value, end = self.scalar.read(data, start, stop)
            items.append(value)
            return end
        if wire_type != wire.BYTES:
            return UNKNOWN
        first, end = wire.read_length(data, start, stop)
        items += self.scalar.read_packed(data, first, end)
        return end

    def write(self, value: ScalarList[T], parts: list[bytes]) -> int:
        """Packed where that is possible."""
        items: list[Any] = [self.scalar.write_packed(value._items)] if self._packs else value._items
        total = 0
        for item in items:
            head = self._tag + wire.varint(len(item))
            parts += (head, item)
            total += len(head) + len(item)
        return total
