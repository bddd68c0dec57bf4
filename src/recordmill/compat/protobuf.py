"""Build the message classes of TensorFlow and OneFlow from tables of fields, with the ``protobuf`` package.

The classes belong to descriptor pools of their own, so the framework itself can define the same messages in the same
process.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from recordmill.errors import MissingExtraError

# Name, number, type and label of a field. The label is "optional", "repeated", "map" or "oneof". The keys of a "map"
# are strings, and its type is the type of the values. All "oneof" fields of a message belong to one oneof named "kind".
Field = tuple[str, int, str, str]
# Maps the name of each message to its fields. Maps the name of each enum to a string of value names, separated by
# spaces; the values are 0, 1, 2 and so on. A nested message is named "Outer.Inner" and follows its outer message.
Declarations = Mapping[str, Sequence[Field] | str]

_OPTIONAL, _REPEATED = 1, 3  # Values of FieldDescriptorProto.Label.
_SCALARS = {  # Values of FieldDescriptorProto.Type.
    "double": 1, "float": 2, "int64": 3, "uint64": 4, "int32": 5, "bool": 8, "string": 9, "bytes": 12, "uint32": 13,
}  # fmt: skip
_UNPACKED = ("string", "bytes")


def lazy_messages(
    module: str, package: str, syntax: str, files: Mapping[str, Declarations]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` for a module that builds its message classes on first use."""
    names = {
        name
        for declarations in files.values()
        for name, members in declarations.items()
        if "." not in name and not isinstance(members, str)
    }
    found: dict[str, Any] = {}
    lock = threading.Lock()

    def get_message_class(name: str) -> Any:
        if name not in names:
            raise AttributeError(f"module {module!r} has no attribute {name!r}", name=name)
        with lock:  # The lock ensures that all threads get the same classes.
            if not found:
                found.update(_build_message_classes(module, package, syntax, files))
                vars(sys.modules[module]).update(found)
        return found[name]

    def list_message_names() -> list[str]:
        return sorted({*vars(sys.modules[module]), *names})

    return get_message_class, list_message_names


def _build_message_classes(module: str, package: str, syntax: str, files: Mapping[str, Declarations]) -> dict[str, Any]:
    """Return the message classes by name; a proto file in `files` may use the types of the files before it."""
    try:
        from google.protobuf.descriptor_pb2 import FileDescriptorProto
        from google.protobuf.descriptor_pool import DescriptorPool
        from google.protobuf.message_factory import GetMessageClass
    except ImportError as error:
        raise MissingExtraError(
            f"messages of {package} require the package protobuf, version 5.26 or later",
            hint="pip install 'recordmill[protobuf]'",
        ) from error
    pool = DescriptorPool()
    classes = {}
    for number, (path, declarations) in enumerate(files.items()):
        file = FileDescriptorProto(name=path, package=package, syntax=syntax, dependency=list(files)[:number])
        for name, members in declarations.items():
            if isinstance(members, str):
                _declare_enum(file, name, members.split())
            else:
                _declare_message(file, name, members)
        pool.AddSerializedFile(file.SerializeToString())
        for name, members in declarations.items():
            if not isinstance(members, str):
                cls = GetMessageClass(pool.FindMessageTypeByName(f"{package}.{name}"))
                cls.__module__ = module  # Pickle imports the class from this module.
                classes[name] = cls
    return {name: cls for name, cls in classes.items() if "." not in name}


def _declare_enum(file: Any, name: str, values: Sequence[str]) -> None:
    enum = file.enum_type.add(name=name)
    for number, value in enumerate(values):
        enum.value.add(name=value, number=number)


def _declare_message(file: Any, name: str, fields: Sequence[Field]) -> None:
    outer, _, inner = name.rpartition(".")
    messages = next(one for one in file.message_type if one.name == outer).nested_type if outer else file.message_type
    message = messages.add(name=inner)
    if any(label == "oneof" for *_, label in fields):
        message.oneof_decl.add(name="kind")
    for field, number, kind, label in fields:
        is_repeated = label in ("repeated", "map")
        declared = message.field.add(name=field, number=number, label=_REPEATED if is_repeated else _OPTIONAL)
        _set_field_type(declared, kind, file.package)
        if label == "oneof":
            declared.oneof_index = 0
        elif label == "repeated" and kind in _SCALARS and kind not in _UNPACKED:
            declared.options.packed = True
        elif label == "map":
            entry = message.nested_type.add(name=f"{field.title().replace('_', '')}Entry", options={"map_entry": True})
            entry.field.add(name="key", number=1, label=_OPTIONAL, type=_SCALARS["string"])
            _set_field_type(entry.field.add(name="value", number=2, label=_OPTIONAL), kind, file.package)
            declared.type_name = f".{file.package}.{name}.{entry.name}"


def _set_field_type(field: Any, kind: str, package: str) -> None:
    if kind in _SCALARS:
        field.type = _SCALARS[kind]
    else:
        field.type_name = f".{package}.{kind}"  # The descriptor pool detects whether the type is a message or an enum.
