"""Descriptors of messages: where protobuf is installed, it tells its own functions what they ask of a message."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from recordmill.compat.messages.fields import Mapped, Nested, Repeated
from recordmill.compat.messages.fields.base import Field
from recordmill.dataclass import dataclass

if TYPE_CHECKING:
    from recordmill.compat.messages.message import Message

# FieldDescriptorProto.Type and .Label.
_TYPES = {"double": 1, "float": 2, "int64": 3, "int32": 5, "string": 9, "message": 11, "bytes": 12}
_OPTIONAL, _REPEATED = 1, 3


@dataclass(frozen=True, slots=True)
class Descriptor:
    """What a message type is called and made of; has what protobuf's descriptors have, where protobuf is installed."""

    name: str
    full_name: str
    fields: tuple[Field, ...]
    message: type[Message]

    def __getattr__(self, name: str) -> Any:
        """Ask protobuf."""
        return getattr(protobuf_descriptor(self.message, name), name)


def protobuf_descriptor(cls: type[Message], name: str) -> Any:
    """Protobuf's descriptor of a message type."""
    if not name.startswith("_"):
        try:
            return _built(cls)
        except ImportError:
            pass
    raise AttributeError(
        f"the descriptor of {cls._full_name} has no {name!r}: functions of google.protobuf need the package protobuf; "
        "without it, str(message) is the text form"
    )


@functools.cache
def _pool() -> Any:
    from google.protobuf import descriptor_pool

    return descriptor_pool.DescriptorPool()


@functools.cache
def _built(cls: type[Message]) -> Any:
    """Descriptor of a type, in a file of its own."""
    from google.protobuf import descriptor_pb2

    package = cls._full_name.rpartition(".")[0]
    file = descriptor_pb2.FileDescriptorProto(name=f"{cls._full_name}.proto", package=package, syntax="proto3")
    message = file.message_type.add(name=cls.__name__)
    for name in cls._oneofs:
        message.oneof_decl.add(name=name)
    parts = {field.cls for field in cls._by_number.values() if not isinstance(field, Repeated)}
    file.dependency.extend(sorted(_built(part).file.name for part in parts))
    for field in cls._by_number.values():
        _declare(message, field, cls)
    return _pool().AddSerializedFile(file.SerializeToString()).message_types_by_name[cls.__name__]


def _declare(message: Any, field: Any, cls: type[Message]) -> None:
    label = _OPTIONAL if isinstance(field, Nested) else _REPEATED
    entry = message.field.add(name=field.name, number=field.number, label=label)
    if isinstance(field, Repeated):
        entry.type = _TYPES[field.scalar.name]
        return
    entry.type, entry.type_name = _TYPES["message"], f".{field.cls._full_name}"
    if isinstance(field, Nested) and field.oneof is not None:
        entry.oneof_index = list(cls._oneofs).index(field.oneof)
    if isinstance(field, Mapped):
        pair = message.nested_type.add(name=f"{field.name.title().replace('_', '')}Entry", options={"map_entry": True})
        pair.field.add(name="key", number=1, label=_OPTIONAL, type=_TYPES["string"])
        pair.field.add(name="value", number=2, label=_OPTIONAL, type=_TYPES["message"], type_name=entry.type_name)
        entry.type_name = f".{cls._full_name}.{pair.name}"
