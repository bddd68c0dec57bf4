"""Fields that hold one message, alone or as one of several choices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from recordmill.compat.messages import wire
from recordmill.compat.messages.fields.base import UNKNOWN, Field

if TYPE_CHECKING:
    from recordmill.compat.messages.message import Message

M = TypeVar("M", bound="Message")


class Nested(Field, Generic[M]):
    """One message; reading it is no change, changing anything in it makes it present."""

    kind = "message"
    has_presence = True

    def __init__(self, number: int, cls: type[M], oneof: str | None = None) -> None:
        super().__init__(number)
        self.cls, self.oneof = cls, oneof
        self._tag = wire.varint(number << 3 | wire.BYTES)

    @overload
    def __get__(self, message: None, owner: type) -> Nested[M]: ...
    @overload
    def __get__(self, message: Message, owner: type) -> M: ...
    def __get__(self, message: Message | None, owner: type) -> Nested[M] | M:
        """Message in a message."""
        if message is None:
            return self
        value: M = self.shown(message)
        return value

    def make(self, message: Message) -> M:
        """Message that is not present until something in it changes."""
        child = self.cls._empty()
        child._owner = (message, self)
        return child

    def is_set(self, value: M) -> bool:
        """Whether the message is present."""
        return value._owner is None

    def adopt(self, message: Message, child: Message) -> None:
        """Make a child present that changed, in place of what the choice held before."""
        message._touch()
        message._own()
        if self.oneof is not None:
            message._clear_oneof(self.oneof)
        message._values[self.name] = child

    def assign(self, message: Message, given: Any) -> None:
        """Copy a message of the same type, or one made of a dict."""
        self.merge(message, made(self.cls, given))

    def copied(self, value: M) -> M:
        """Copy of the message."""
        return value._copied()

    def merge(self, message: Message, value: M) -> None:
        """Merge a message into the one that is there; where there is none, copy it."""
        child = message._values.get(self.name)
        if child is None:
            self.adopt(message, value._copied())
        else:
            child._touch()
            child._merge(value)

    def read(self, message: Message, data: bytes, wire_type: int, start: int, stop: int) -> int:
        """Merge a message's bytes."""
        if wire_type != wire.BYTES:
            return UNKNOWN
        first, end = wire.read_length(data, start, stop)
        child = message._values.get(self.name)
        if child is None:
            child = self.cls._empty()
            self.adopt(message, child)
        else:
            child._touch()
        child._parse(data, first, end)
        return end

    def write(self, value: M, parts: list[bytes]) -> int:
        """Length and bytes of the message."""
        return write_message(self._tag, value, parts)


def write_message(tag: bytes, message: Message, parts: list[bytes]) -> int:
    """Append a message behind its tag and length; return the number of bytes."""
    place = len(parts)
    parts.append(tag)
    length = message._write(parts)
    head = parts[place] = tag + wire.varint(length)
    return len(head) + length


def made(cls: type[M], given: Any) -> M:
    """Message that a constructor was given, or the one that a dict describes."""
    if isinstance(given, Mapping):
        message = cls()
        message._fill(given)
        return message
    if type(given) is not cls:
        raise TypeError(
            "Parameter to initialize message field must be dict or instance of same class: "
            f"expected {cls} got {type(given)}."
        )
    return given
