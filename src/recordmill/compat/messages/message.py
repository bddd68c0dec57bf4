"""The base class of messages: what protobuf's Python messages do, over declared fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

from recordmill.compat.messages import wire
from recordmill.compat.messages.content import OWN, SEEN, Content
from recordmill.compat.messages.descriptors import Descriptor
from recordmill.compat.messages.fields.base import UNKNOWN, Field
from recordmill.compat.messages.fields.nested import Nested
from recordmill.compat.messages.text import text_of
from recordmill.errors import PayloadError


class Message(Content):
    """One message; fields are attributes, and keywords of the constructor.

    A subclass declares its fields in its body, and may name its package: ``class Feature(Message, package="oneflow")``.
    """

    __hash__ = None  # type: ignore[assignment]
    DESCRIPTOR: ClassVar[Descriptor]
    _full_name: ClassVar[str]
    _by_number: ClassVar[dict[int, Field]] = {}  # in order
    _oneofs: ClassVar[dict[str, tuple[Nested[Any], ...]]] = {}

    def __init_subclass__(cls, package: str = "", **options: Any) -> None:
        super().__init_subclass__(**options)
        declared = sorted((value for value in vars(cls).values() if isinstance(value, Field)), key=lambda f: f.number)
        cls._full_name = f"{package}.{cls.__name__}" if package else cls.__name__
        cls._fields = {field.name: field for field in declared}
        cls._by_number = {field.number: field for field in declared}
        choices = [field for field in declared if isinstance(field, Nested) and field.oneof is not None]
        names = dict.fromkeys(field.oneof for field in choices if field.oneof is not None)
        cls._oneofs = {name: tuple(field for field in choices if field.oneof == name) for name in names}
        cls.DESCRIPTOR = Descriptor(cls.__name__, cls._full_name, tuple(declared), cls)

    def __init__(self, *args: Any, **fields: Any) -> None:
        if args:
            raise TypeError("No positional arguments allowed")
        self._values, self._owner, self._unknown, self._state = {}, None, b"", OWN
        self._fill(fields)

    def _fill(self, fields: Mapping[str, Any]) -> None:
        for name, given in fields.items():
            field = self._field(name)
            if given is not None:
                field.assign(self, given)

    @classmethod
    def _field(cls, name: str) -> Field:
        field = cls._fields.get(name)
        if field is None:
            raise ValueError(f'Protocol message {cls.__name__} has no "{name}" field.')
        return field

    def _touch(self) -> None:
        if self._owner is not None:
            (owner, field), self._owner = self._owner, None
            field.adopt(owner, self)
            owner._state = SEEN

    def _clear_oneof(self, name: str) -> None:
        for field in self._oneofs[name]:
            value = self._values.get(field.name)
            if value is not None and field.is_set(value):
                del self._values[field.name]

    def _merge(self, other: Message) -> None:
        self._own()
        for name, value in other._present():
            self._fields[name].merge(self, value)
        self._unknown += other._unknown

    def _parse(self, data: bytes, start: int, stop: int) -> None:
        self._own()
        place, by_number = start, self._by_number
        while place < stop:
            first = place
            number, kind, place = wire.read_tag(data, place, stop)
            field = by_number.get(number)
            end = UNKNOWN if field is None else field.read(self, data, kind, place, stop)
            if end == UNKNOWN:
                end = wire.skip(data, number, kind, place, stop)
                self._unknown += data[first:end]
            place = end

    def _write(self, parts: list[bytes]) -> int:
        total, values = 0, self._values
        for field in self._by_number.values() if len(values) > 1 else map(self._fields.__getitem__, values):
            value = values.get(field.name)
            if value is not None and field.is_set(value):
                total += field.write(value, parts)
        if self._unknown:
            parts.append(self._unknown)
        return total + len(self._unknown)

    def SerializeToString(self, *, deterministic: bool | None = None) -> bytes:
        """Bytes of the message, always protobuf's deterministic form, with unknown fields at the end."""
        del deterministic
        parts: list[bytes] = []
        self._write(parts)
        return b"".join(parts)

    SerializePartialToString = SerializeToString

    def ByteSize(self) -> int:
        """Return the number of bytes that `SerializeToString` gives."""
        return self._write([])

    @classmethod
    def FromString(cls, data: Any) -> Self:
        """Parse a message."""
        message = cls._empty()
        message.MergeFromString(data)
        return message

    def ParseFromString(self, data: Any) -> int:
        """Replace the content by that of bytes; as `FromString`, but returns the number of bytes."""
        self.Clear()
        return self.MergeFromString(data)

    def MergeFromString(self, data: Any) -> int:
        """Add the content of bytes; as `FromString`, but returns the number of bytes."""
        if isinstance(data, str):
            raise TypeError("expected bytes, str found")
        content = data if type(data) is bytes else bytes(memoryview(data))
        self._touch()
        try:
            self._parse(content, 0, len(content))
        except wire.WireError as error:
            message = f"Error parsing message with type '{self._full_name}': {error}"
            raise PayloadError(message, kind="bad_payload", offset=error.offset) from None
        return len(content)

    def Clear(self) -> None:
        """Empty the message; it stays, or becomes, part of the one around it."""
        self._touch()
        self._values, self._unknown, self._state = {}, b"", OWN

    def ClearField(self, name: str) -> None:
        """Empty one field, or what a oneof holds."""
        self._touch()
        self._own()
        if name in self._oneofs:
            self._clear_oneof(name)
        else:
            self._values.pop(self._field(name).name, None)

    def HasField(self, name: str) -> bool:
        """Whether a message field, or any field of a oneof, is present."""
        if name in self._oneofs:
            return self.WhichOneof(name) is not None
        field = self._field(name)
        if not field.has_presence:
            raise ValueError(f"Field {self._full_name}.{name} does not have presence.")
        value = self._values.get(name)
        return value is not None and field.is_set(value)

    def WhichOneof(self, name: str) -> str | None:
        """Name of the field that a oneof holds."""
        if name not in self._oneofs:
            raise ValueError(f'Protocol message {type(self).__name__} has no "{name}" field.')
        return next((field.name for field in self._oneofs[name] if self.HasField(field.name)), None)

    def SetInParent(self) -> None:
        """Make the message part of the one around it, as a change would."""
        self._touch()

    def CopyFrom(self, other: Self) -> None:
        """Replace the content by a copy of another message's."""
        if other is self:
            return
        taken = self._taken(other, "CopyFrom")
        self.Clear()
        self._merge(taken)

    def MergeFrom(self, other: Self) -> None:
        """Add a copy of another message's content."""
        taken = self._taken(other, "MergeFrom")
        self._touch()
        self._merge(taken)

    @classmethod
    def _taken(cls, other: Any, method: str) -> Self:
        """Another message of the type, or protobuf's own of that name."""
        if type(other) is not cls:
            if getattr(getattr(other, "DESCRIPTOR", None), "full_name", None) == cls._full_name:
                return cls.FromString(other.SerializeToString())
            raise TypeError(
                f"Parameter to {method}() must be instance of same class: expected {cls} got {type(other)}."
            )
        found: Self = other
        return found

    def ListFields(self) -> list[tuple[Field, Any]]:
        """Fields that are present, by number, with their values."""
        self._show()
        found = [(self._fields[name], value) for name, value in self._present()]
        return sorted(found, key=lambda pair: pair[0].number)

    def IsInitialized(self) -> bool:
        """Whether all required fields are present; there are none."""
        return True

    def __eq__(self, other: object) -> bool:
        """Whether another message has the same type and content."""
        if type(other) is not type(self):
            return NotImplemented
        return self.SerializeToString() == other.SerializeToString()

    def __str__(self) -> str:
        """Protobuf's text form."""
        return text_of(self)

    __repr__ = __str__

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        """Copy everything."""
        return self._copied()

    __copy__ = __deepcopy__

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as bytes."""
        return _parsed, (type(self), self.SerializeToString())


def _parsed(cls: type[Message], data: bytes) -> Message:
    return cls.FromString(data)
