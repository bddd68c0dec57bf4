"""What a message holds, and who else may hold it: copies share values until one of them changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

if TYPE_CHECKING:
    from recordmill.compat.messages.fields.base import Field
    from recordmill.compat.messages.fields.nested import Nested
    from recordmill.compat.messages.message import Message

# Of the values of a message: nobody else has them; scripts may hold some; copies have them too until one changes.
OWN, SEEN, SHARED = range(3)


class WithoutDict(type):
    """Classes whose instances take no attribute that was not declared."""

    def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any], **options: Any) -> WithoutDict:
        """Make the class."""
        return super().__new__(cls, name, bases, {"__slots__": (), **body}, **options)


class Content(metaclass=WithoutDict):
    """Values of a message by the names of their fields."""

    __slots__ = ("_owner", "_state", "_unknown", "_values")
    _fields: ClassVar[dict[str, Field]] = {}
    # The message that this one becomes part of when it changes, and the field there.
    _owner: tuple[Message, Nested[Any]] | None
    _state: int
    _unknown: bytes
    _values: dict[str, Any]

    @classmethod
    def _empty(cls) -> Self:
        message = cls.__new__(cls)
        message._values, message._owner, message._unknown, message._state = {}, None, b"", OWN
        return message

    def _copied(self) -> Self:
        """Another message of the same content, part of none; of values that no script holds, the copy is made later."""
        message = self._empty()
        message._unknown = self._unknown
        if self._state == SEEN:
            message._values = self._copied_values()
        else:
            message._values = self._values
            self._state = message._state = SHARED
        return message

    def _copied_values(self) -> dict[str, Any]:
        fields = self._fields
        return {name: fields[name].copied(value) for name, value in self._present()}

    def _own(self) -> None:
        """Make sure that a change is nobody else's."""
        if self._state == SHARED:
            self._values, self._state = self._copied_values(), OWN

    def _show(self) -> None:
        """Prepare for a script that gets one of the values."""
        self._own()
        self._state = SEEN

    def _present(self) -> list[tuple[str, Any]]:
        fields = self._fields
        return [pair for pair in self._values.items() if fields[pair[0]].is_set(pair[1])]
