"""What every field of a message owes: a value on first use, presence, merging, bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recordmill.compat.messages.content import SEEN

if TYPE_CHECKING:
    from recordmill.compat.messages.message import Message

UNKNOWN = -1


class Field:
    """One field; read as an attribute of its message, and never assigned."""

    # How refusals name the kind of field.
    kind = "map, or repeated"
    has_presence = False

    def __init__(self, number: int) -> None:
        self.number = number
        self.name = ""
        self.owner: type[Message] | None = None

    def __set_name__(self, owner: type, name: str) -> None:
        """Take the name of the attribute, and the class that it belongs to."""
        self.name, self.owner = name, owner

    def __getattr__(self, name: str) -> Any:
        """Ask protobuf's descriptor of the field, where protobuf is installed."""
        owner = self.__dict__.get("owner")
        if owner is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(owner.DESCRIPTOR.fields_by_name[self.name], name)

    def value_of(self, message: Message) -> Any:
        """Return the value, made on first use."""
        value = message._values.get(self.name)
        if value is None:
            value = message._values[self.name] = self.make(message)
        return value

    def shown(self, message: Message) -> Any:
        """Return the value to a script, which may change it."""
        if message._state != SEEN:
            message._show()
        value = message._values.get(self.name)
        return self.value_of(message) if value is None else value

    def __set__(self, message: Message, value: Any) -> None:
        """Refuse assignment, as protobuf does."""
        raise AttributeError(f'Assignment not allowed to {self.kind} field "{self.name}" in protocol message object.')

    def __delete__(self, message: Message) -> None:
        """Refuse deletion, as protobuf does."""
        raise AttributeError("Cannot delete field attribute")

    def make(self, message: Message) -> Any:
        """Value of a message that does not have the field yet."""
        raise NotImplementedError

    def is_set(self, value: Any) -> bool:
        """Whether a value is there to be written."""
        return len(value) > 0

    def assign(self, message: Message, given: Any) -> None:
        """Take the value of a constructor's keyword."""
        raise NotImplementedError

    def copied(self, value: Any) -> Any:
        """Value for another message of the same type, part of none yet."""
        raise NotImplementedError

    def merge(self, message: Message, value: Any) -> None:
        """Add the value of another message of the same type."""
        raise NotImplementedError

    def read(self, message: Message, data: bytes, wire: int, start: int, stop: int) -> int:
        """Add what stands behind a tag; return where the next byte is, UNKNOWN if the wire type is another's."""
        raise NotImplementedError

    def write(self, value: Any, parts: list[bytes]) -> int:
        """Append the bytes of a value; return their number."""
        raise NotImplementedError
