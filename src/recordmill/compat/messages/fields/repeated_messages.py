"""Repeated fields of messages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Generic, SupportsIndex, TypeVar, overload

from recordmill.compat.messages import wire
from recordmill.compat.messages.fields.base import UNKNOWN, Field
from recordmill.compat.messages.fields.nested import made, write_message

if TYPE_CHECKING:
    from recordmill.compat.messages.message import Message

M = TypeVar("M", bound="Message")


class MessageList(Generic[M]):
    """Messages of a repeated field; those put in are copied."""

    __slots__ = ("_cls", "_items", "_message")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, cls: type[M], message: Message | None) -> None:
        self._cls, self._message = cls, message
        self._items: list[M] = []

    def _touch(self) -> None:
        if self._message is not None:
            self._message._touch()
            self._message = None

    def add(self, **fields: Any) -> M:
        """Append a new message and return it."""
        self._touch()
        added = self._cls(**fields)
        self._items.append(added)
        return added

    def append(self, message: M) -> None:
        """Append a copy of a message."""
        self._touch()
        self._items.append(self._copied(message))

    def extend(self, messages: Iterable[M]) -> None:
        """Append copies of messages."""
        self._touch()
        self._items += [self._copied(message) for message in messages]

    MergeFrom = extend

    def insert(self, place: SupportsIndex, message: M) -> None:
        """Put a copy of a message in front of a place."""
        self._touch()
        self._items.insert(place, self._copied(message))

    def _copied(self, message: M) -> M:
        return self._cls._taken(message, "MergeFrom")._copied()

    def remove(self, message: M) -> None:
        """Take out the first message that equals one."""
        self._touch()
        self._items.remove(message)

    def pop(self, place: SupportsIndex = -1) -> M:
        """Take out one message."""
        self._touch()
        return self._items.pop(place)

    def clear(self) -> None:
        """Take out all messages."""
        self._items.clear()

    def reverse(self) -> None:
        """Turn the order round."""
        self._touch()
        self._items.reverse()

    def sort(self, *, key: Callable[[M], Any], reverse: bool = False) -> None:
        """Sort in place."""
        self._items.sort(key=key, reverse=reverse)

    @overload
    def __getitem__(self, place: SupportsIndex) -> M: ...
    @overload
    def __getitem__(self, place: slice) -> list[M]: ...
    def __getitem__(self, place: SupportsIndex | slice) -> M | list[M]:
        """Message at a place, or a list of those of a slice."""
        return self._items[place]

    def __setitem__(self, place: Any, message: Any) -> None:
        """Refuse assignment, as protobuf does."""
        raise TypeError("does not support assignment")

    def __delitem__(self, place: SupportsIndex | slice) -> None:
        """Take out a message, or those of a slice."""
        self._touch()
        del self._items[place]

    def __len__(self) -> int:
        """Return the number of messages."""
        return len(self._items)

    def __iter__(self) -> Iterator[M]:
        """Messages in order."""
        return iter(self._items)

    def __eq__(self, other: object) -> bool:
        """Whether another one, or a list, has equal messages."""
        return self._items == (other._items if isinstance(other, MessageList) else other)

    def __repr__(self) -> str:
        """Readable form, that of a list."""
        return repr(self._items)


class RepeatedMessages(Field, Generic[M]):
    """A list of messages."""

    def __init__(self, number: int, cls: type[M]) -> None:
        super().__init__(number)
        self.cls = cls
        self._tag = wire.varint(number << 3 | wire.BYTES)

    @overload
    def __get__(self, message: None, owner: type) -> RepeatedMessages[M]: ...
    @overload
    def __get__(self, message: Message, owner: type) -> MessageList[M]: ...
    def __get__(self, message: Message | None, owner: type) -> RepeatedMessages[M] | MessageList[M]:
        """Messages in a message."""
        if message is None:
            return self
        value: MessageList[M] = self.shown(message)
        return value

    def make(self, message: Message) -> MessageList[M]:
        """No messages."""
        return MessageList(self.cls, message if message._owner is not None else None)

    def assign(self, message: Message, given: Any) -> None:
        """Messages, or dicts that describe them, of an iterable."""
        try:
            items = list(given)
        except TypeError:
            raise TypeError(f"Argument for field {message._full_name}.{self.name} is not iterable") from None
        self.value_of(message).extend(made(self.cls, item) for item in items)

    def copied(self, value: MessageList[M]) -> MessageList[M]:
        """Copies of the messages."""
        messages = MessageList(self.cls, None)
        messages._items = [message._copied() for message in value._items]
        return messages

    def merge(self, message: Message, value: MessageList[M]) -> None:
        """Copies behind those that are there."""
        self.value_of(message).extend(value)

    def read(self, message: Message, data: bytes, wire_type: int, start: int, stop: int) -> int:
        """One more message."""
        if wire_type != wire.BYTES:
            return UNKNOWN
        first, end = wire.read_length(data, start, stop)
        child = self.cls._empty()
        child._parse(data, first, end)
        self.value_of(message)._items.append(child)
        return end

    def write(self, value: MessageList[M], parts: list[bytes]) -> int:
        """Each message behind its tag and length."""
        return sum(write_message(self._tag, message, parts) for message in value)
