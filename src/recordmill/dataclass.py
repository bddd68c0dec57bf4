"""`dataclass`, which makes classes several times faster than the standard library does.

The standard library compiles up to six methods of each class. recordmill has about ninety of them before the first
batch, which was a quarter of the time to it. Here one method is compiled, ``__init__``; the others are shared.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import TYPE_CHECKING, Any

__all__ = ["dataclass"]

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(
        cls: type | None = None, /, *, frozen: bool = False, slots: bool = False, repr: bool = True, eq: bool = True
    ) -> Any:
        """Do what `dataclasses.dataclass` does with these options.

        A class that inherits fields is left to the standard library. Of others, `dataclasses.fields`, `replace` and
        `asdict`, pickling, comparing, printing, matching and `__post_init__` work alike; keyword-only fields are
        refused, and those that are no parameter need a `default_factory`.
        """

        def make(cls: type) -> Any:
            if any(dataclasses.is_dataclass(base) for base in cls.__bases__):
                return dataclasses.dataclass(cls, frozen=frozen, slots=slots, repr=repr, eq=eq)
            return _make(cls, frozen=frozen, slots=slots, repr=repr, eq=eq)

        return make if cls is None else make(cls)


def _make(cls: Any, *, frozen: bool, slots: bool, repr: bool, eq: bool) -> Any:
    # Collects the fields, and makes the class anew for slots.
    cls = dataclasses.dataclass(init=False, repr=False, eq=False, slots=slots)(cls)
    fields = dataclasses.fields(cls)
    if any(field.kw_only or not (field.init or callable(field.default_factory)) for field in fields):
        raise TypeError(f"{cls.__qualname__}: fields are positional, or made by a default_factory")
    cls.__dataclass_params__.frozen = frozen
    _add(cls, {"__init__": _init(cls, fields, frozen)})
    if frozen:
        cls.__setattr__, cls.__delattr__ = _refuse_set, _refuse_delete
    if frozen and slots:
        _add(cls, _PICKLING)
    if repr:
        _add(cls, {"__repr__": _repr([field.name for field in fields if field.repr])})
    if eq:
        equal, digest = _comparing([field.name for field in fields if field.compare])
        _add(cls, {"__eq__": equal, "__hash__": digest} if frozen else {"__eq__": equal})
        if "__hash__" not in cls.__dict__:
            cls.__hash__ = None
    return cls


def _add(cls: type, methods: dict[str, Callable[..., Any]]) -> None:
    """Set methods that the class does not define; one that compares and says nothing of hashing has None there."""
    for name, method in methods.items():
        if cls.__dict__.get(name) is None:
            setattr(cls, name, method)


def _init(cls: type, fields: Iterable[dataclasses.Field[Any]], frozen: bool) -> Callable[..., None]:
    names: dict[str, Any] = {"_set": object.__setattr__}
    parameters, lines = ["self"], []
    for field in fields:
        name = value = field.name
        if field.default_factory is not dataclasses.MISSING:
            names[f"_make_{name}"], names["_made"] = field.default_factory, dataclasses.MISSING
            value = f"_make_{name}()"
            if field.init:
                parameters.append(f"{name}=_made")
                value += f" if {name} is _made else {name}"
        elif field.default is not dataclasses.MISSING:
            names[f"_default_{name}"] = field.default
            parameters.append(f"{name}=_default_{name}")
        else:
            parameters.append(name)
        lines.append(f" _set(self, {name!r}, {value})" if frozen else f" self.{name} = {value}")
    if hasattr(cls, "__post_init__"):
        lines.append(" self.__post_init__()")
    exec(f"def __init__({', '.join(parameters)}):\n" + ("\n".join(lines) or " pass"), names)
    init: Callable[..., None] = names["__init__"]
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    init.__annotations__ = {field.name: field.type for field in fields} | {"return": None}
    return init


def _repr(names: list[str]) -> Callable[[Any], str]:
    def show(self: Any) -> str:
        return f"{type(self).__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in names)})"

    return show


def _comparing(names: list[str]) -> tuple[Callable[..., Any], Callable[..., Any]]:
    get = attrgetter(*names) if names else None

    def values(self: Any) -> tuple[Any, ...]:
        if get is None:
            return ()
        return get(self) if len(names) > 1 else (get(self),)

    def equal(self: Any, other: object) -> bool:
        return values(self) == values(other) if type(other) is type(self) else NotImplemented

    def digest(self: Any) -> int:
        return hash(values(self))

    return equal, digest


def _refuse_set(_self: Any, name: str, _value: object) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_delete(_self: Any, name: str) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


def _get_state(self: Any) -> list[Any]:
    return [getattr(self, field.name) for field in dataclasses.fields(self)]


def _set_state(self: Any, state: list[Any]) -> None:
    for field, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, field.name, value)


_PICKLING: dict[str, Callable[..., Any]] = {"__getstate__": _get_state, "__setstate__": _set_state}
