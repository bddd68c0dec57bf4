"""Maps from names to messages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping, Sized
from functools import lru_cache
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from recordmill.compat.messages import wire
from recordmill.compat.messages.fields.base import UNKNOWN, Field
from recordmill.compat.messages.fields.nested import made, write_message
from recordmill.dataclass import dataclass

if TYPE_CHECKING:
    from recordmill.compat.messages.message import Message

M = TypeVar("M", bound="Message")
_KEY, _VALUE = wire.varint(1 << 3 | wire.BYTES), wire.varint(2 << 3 | wire.BYTES)
_MISSING: Any = object()


@dataclass(slots=True)
class _Entry:
    """What was read of one entry."""

    value: Message
    key: str = ""
    has_value: bool = False
    unknown: bytes = b""


class MessageMap(MutableMapping[str, M]):
    """Messages by name; looking one up that is not there makes it."""

    __slots__ = ("_cls", "_errors", "_field", "_items", "_message")

    def __init__(self, field: Mapped[M], message: Message | None) -> None:
        self._field, self._cls, self._errors, self._message = field, field.cls, field.errors, message
        self._items: dict[str, M] = {}

    def _touch(self) -> None:
        if self._message is not None:
            self._message._touch()
            self._message = None

    def _key(self, key: object) -> str:
        if isinstance(key, bytes):
            return key.decode("utf-8", self._errors)
        if not isinstance(key, str):
            raise TypeError(f"expected str, {type(key).__name__} found")
        key.encode("utf-8", self._errors)
        return str(key)

    def __getitem__(self, key: str) -> M:
        """Message of a name, a new one if there was none."""
        found = self._items.get(key)
        if found is None:
            key = self._key(key)
            found = self._items.setdefault(key, self._cls())
            self._touch()
        return found

    get_or_create = __getitem__

    def _take(self, key: str, message: M) -> None:
        """Add a copy of a message's content to that of a name."""
        key, found = self._key(key), self._cls._taken(message, "MergeFrom")
        if key in self._items:
            self._items[key].MergeFrom(found)
        else:
            self._items[key] = found._copied()

    def __setitem__(self, key: str, value: Any) -> None:
        """Refuse assignment, as protobuf does."""
        raise ValueError("Message objects may not be assigned")

    def setdefault(self, key: str, default: Any = None) -> Any:
        """Refuse assignment, as protobuf does."""
        raise NotImplementedError("Set message map value directly is not supported.")

    def __delitem__(self, key: str) -> None:
        """Take out a message."""
        if key not in self._items:
            raise KeyError("Key not present in map")
        del self._items[key]
        self._touch()

    def get(self, key: str, default: Any = None) -> Any:
        """Message of a name; the default if there is none."""
        return self._items.get(key, default)

    def pop(self, key: str, default: Any = _MISSING) -> Any:
        """Take out the message of a name."""
        if default is _MISSING and key not in self._items:
            raise KeyError(key)
        self._touch()
        return self._items.pop(key, default)

    def clear(self) -> None:
        """Take out all messages."""
        self._items.clear()
        self._touch()

    def MergeFrom(self, other: MessageMap[M]) -> None:
        """Take copies of another map's messages, in place of those of the same names."""
        for key, message in list(other._items.items()):
            self._items[key] = message._copied()
        self._touch()

    def GetEntryClass(self) -> Any:
        """Maker of protobuf's own messages of key and value, where protobuf is installed."""
        from google.protobuf import message_factory

        entry = message_factory.GetMessageClass(self._field.message_type)

        def made(value: M | None = None, **key: str) -> Any:
            found = entry(**key)
            if value is not None:
                found.value.SetInParent()
                found.value.MergeFromString(value.SerializeToString())
            return found

        return made

    def __contains__(self, key: object) -> bool:
        """Whether there is a message of that name."""
        return key in self._items

    def __iter__(self) -> Iterator[str]:
        """Names, in the order in which they came."""
        return iter(self._items)

    def __len__(self) -> int:
        """Return the number of messages."""
        return len(self._items)

    def __repr__(self) -> str:
        """Readable form, that of a dict."""
        return repr(self._items)


class Mapped(Field, Generic[M]):
    """A map from strings to messages, written in the order of protobuf's deterministic form."""

    def __init__(self, number: int, cls: type[M], *, lenient: bool = False) -> None:
        super().__init__(number)
        self.cls, self.lenient = cls, lenient
        self.errors = "surrogateescape" if lenient else "strict"
        self._tag = wire.varint(number << 3 | wire.BYTES)

    @overload
    def __get__(self, message: None, owner: type) -> Mapped[M]: ...
    @overload
    def __get__(self, message: Message, owner: type) -> MessageMap[M]: ...
    def __get__(self, message: Message | None, owner: type) -> Mapped[M] | MessageMap[M]:
        """Messages by name."""
        if message is None:
            return self
        value: MessageMap[M] = self.shown(message)
        return value

    def make(self, message: Message) -> MessageMap[M]:
        """No messages."""
        return MessageMap(self, message if message._owner is not None else None)

    def assign(self, message: Message, given: Any) -> None:
        """Copy messages, or make those that dicts describe."""
        if not isinstance(given, Mapping):
            if isinstance(given, Sized) and not len(given):
                return
            raise TypeError(f"Argument for field {message._full_name}.{self.name} is a mapping, not {type(given)}")
        target = self.value_of(message)
        for key, value in given.items():
            target._take(key, made(self.cls, value) if isinstance(value, Mapping) else value)

    def copied(self, value: MessageMap[M]) -> MessageMap[M]:
        """Copies of the messages."""
        messages = MessageMap(self, None)
        messages._items = {key: message._copied() for key, message in value._items.items()}
        return messages

    def merge(self, message: Message, value: MessageMap[M]) -> None:
        """Messages of another map, in place of those of the same names."""
        self.value_of(message).MergeFrom(value)

    def read(self, message: Message, data: bytes, wire_type: int, start: int, stop: int) -> int:
        """One entry."""
        if wire_type != wire.BYTES:
            return UNKNOWN
        place, end = wire.read_length(data, start, stop)
        plain = self._plain(data, place, end)
        if plain is not None:
            key, first = plain
            found = self.cls._empty()
            found._parse(data, first, end)
            self.value_of(message)._items[key] = found
            return end
        entry = _Entry(self.cls._empty())
        while place < end:
            place = self._read_part(entry, data, place, end)
        if entry.unknown and not self.lenient:
            message._unknown += self._as_unknown(entry)
        else:
            self.value_of(message)._items[entry.key] = entry.value
        return end

    def _plain(self, data: bytes, start: int, stop: int) -> tuple[str, int] | None:
        """Key of an entry that holds a key and then a message to its end, and where that begins; none for others."""
        if start == stop or data[start] != _KEY[0]:
            return None
        first, last = wire.read_length(data, start + 1, stop)
        key = self._decoded(data, first, last)
        if last == stop or data[last] != _VALUE[0]:
            return None
        first, end = wire.read_length(data, last + 1, stop)
        return (key, first) if end == stop else None

    def _read_part(self, entry: _Entry, data: bytes, start: int, stop: int) -> int:
        number, kind, place = wire.read_tag(data, start, stop)
        if number not in (1, 2) or kind != wire.BYTES:
            end = wire.skip(data, number, kind, place, stop)
            entry.unknown += data[start:end]
            return end
        first, end = wire.read_length(data, place, stop)
        if number == 1:
            entry.key = self._decoded(data, first, end)
        else:
            entry.value._parse(data, first, end)
            entry.has_value = True
        return end

    def _as_unknown(self, entry: _Entry) -> bytes:
        """Bytes of an entry that holds more than key and value, as protobuf keeps it."""
        parts = [_stored(entry.key, self.errors)[1]] if entry.key else []
        if entry.has_value:
            write_message(_VALUE, entry.value, parts)
        content = b"".join([*parts, entry.unknown])
        return self._tag + wire.varint(len(content)) + content

    def _decoded(self, data: bytes, start: int, stop: int) -> str:
        try:
            return str(data[start:stop], "utf-8", self.errors)
        except UnicodeDecodeError as error:
            raise wire.WireError(start, f"a key is not UTF-8: {error.reason}") from None

    def write(self, value: MessageMap[M], parts: list[bytes]) -> int:
        """Entries in order."""
        total = 0
        entries = [(*_stored(key, self.errors), message) for key, message in value._items.items()]
        for _, key, message in sorted(entries, key=itemgetter(0)):
            place = len(parts)
            parts += (self._tag, key)
            length = len(key) + write_message(_VALUE, message, parts)
            head = parts[place] = self._tag + wire.varint(length)
            total += len(head) + length
        return total


@lru_cache(1024)
def _stored(key: str, errors: str) -> tuple[str, bytes]:
    """Rank of a key, and its field as it is written."""
    encoded = key.encode("utf-8", errors)
    return rank(encoded), _KEY + wire.varint(len(encoded)) + encoded


def rank(key: bytes) -> str:
    """Sort key of map keys as upb sorts them: by bytes, a key in front of its own beginnings."""
    return key.decode("latin-1") + "\u0100"
