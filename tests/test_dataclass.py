"""`dataclass` of ours against that of the standard library, on the same lines."""

from __future__ import annotations

import copy
import dataclasses
import functools
import importlib
import inspect
import pickle
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import FrozenInstanceError, field
from typing import Any, ClassVar

import pytest

import recordmill
from recordmill import dataclass as ours

Decorator = Callable[..., Any]


def kinds(dataclass: Decorator) -> dict[str, type]:
    """Return classes of every shape that the package uses, made by a decorator."""

    @dataclass(frozen=True, slots=True)
    class Plain:
        """Fields with and without defaults."""

        count: ClassVar[int] = 3
        a: int
        b: str = "b"
        c: list[int] = field(default_factory=list)
        d: float = field(default=0.5, compare=False)
        e: object = field(default=None, repr=False)

        @property
        def doubled(self) -> int:
            return 2 * self.a

    @dataclass(frozen=True, slots=True)
    class Empty:
        """No fields."""

    @dataclass(frozen=True, slots=True)
    class One:
        """A single field, which is compared as a tuple of one."""

        value: Any

    @dataclass(frozen=True, slots=True)
    class Checked:
        """What it is given has to be positive and is kept as an int."""

        value: int

        def __post_init__(self) -> None:
            if self.value < 0:
                raise ValueError("negative")
            object.__setattr__(self, "value", int(self.value))

    @dataclass(frozen=True, slots=True, eq=False)
    class Same:
        """Equal to itself only."""

        value: int

    @dataclass(frozen=True, slots=True, repr=False)
    class Own:
        """Prints, compares and hashes in its own way."""

        value: int

        def __repr__(self) -> str:
            return f"own {self.value}"

        def __eq__(self, other: object) -> bool:
            return isinstance(other, int) or type(other) is type(self)

        def __hash__(self) -> int:
            return 7

    @dataclass(frozen=True, slots=True)
    class Compares:  # noqa: PLW1641 - the decorator adds it
        """Defines how it compares and leaves hashing to the decorator."""

        value: int

        def __eq__(self, other: object) -> bool:
            return type(other) is type(self)

    @dataclass(frozen=True, slots=True)
    class Below(One):
        """Inherits a field."""

        more: int = 1

    @dataclass(slots=True)
    class Changing:
        """Not frozen."""

        value: int = 0

    @dataclass(slots=True, eq=False)
    class Counting:
        """Not frozen, and equal to itself only."""

        value: int = 0

    @dataclass(frozen=True)
    class Roomy:
        """Frozen, with room for what is computed later."""

        value: int = 0

        @functools.cached_property
        def twice(self) -> int:
            return 2 * self.value

    @dataclass
    class Open:
        """Neither frozen nor with slots; a field is no parameter."""

        value: int = 0
        more: list[int] = field(default_factory=list, init=False)

    made = {name: value for name, value in locals().items() if isinstance(value, type)}
    for made_class in made.values():
        made_class.__qualname__ = made_class.__name__
    return made


OURS, THEIRS = kinds(ours.dataclass), kinds(dataclasses.dataclass)
ARGUMENTS = {
    "Plain": [(1,), (1, "b"), (2,), (1, "c"), (1, "b", [1]), (1, "b", [], 0.7), (1, "b", [], 0.5, "e")],
    "Empty": [()],
    "One": [(1,), (2,), (float("nan"),), ((1, 2),), ("x",)],
    "Checked": [(1,), (True,), (3,)],
    "Same": [(1,), (1,)],
    "Own": [(1,), (2,)],
    "Compares": [(1,), (2,)],
    "Below": [(1,), (1, 2)],
    "Changing": [(), (1,), (1,)],
    "Counting": [(), (1,), (1,)],
    "Roomy": [(), (1,), (1,)],
    "Open": [(), (1,), (1,)],
}


def outcome(call: Callable[[], object]) -> object:
    try:
        return call()
    except (TypeError, AttributeError, ValueError) as error:
        return type(error), str(error)


@pytest.mark.parametrize("name", OURS)
def test_class_when_used_then_as_the_standard_library_makes_it(name: str) -> None:
    ours, theirs = OURS[name], THEIRS[name]

    def told(made: type) -> list[object]:
        values = [made(*arguments) for arguments in ARGUMENTS[name]]
        return [
            [repr(value) for value in values],
            [[left == right for right in values] for left in values],
            [left == object() for left in values],
            [outcome(lambda value=value: hash(value)) for value in values]
            if name not in ("Same", "Counting")
            else None,
            [dataclasses.asdict(value) for value in values],
            [repr(dataclasses.replace(value)) for value in values],
            [repr(copy.copy(value)) + repr(copy.deepcopy(value)) for value in values],
            made.__match_args__,
            made.__doc__,
            hasattr(values[0], "__dict__"),
            getattr(values[-1], "twice", None),
            [str(parameter) for parameter in inspect.signature(made).parameters.values()],
            outcome(made.__init__ if name == "Empty" else lambda: made(1, 2, 3, 4, 5, 6, 7)),
            outcome(lambda: made(wrong=1)),
            [outcome(lambda name=name: setattr(values[0], name, 9)) for name in made.__match_args__],
            [outcome(lambda name=name: delattr(values[0], name)) for name in made.__match_args__],
        ]

    mine, other = told(ours), told(theirs)
    mine[11], other[11] = ([text.split(" = <")[0].split("=<")[0] for text in told_of[11]] for told_of in (mine, other))
    assert mine == other


def test_lists_made_when_none_given_then_each_has_its_own() -> None:
    first, second = OURS["Plain"](1), OURS["Plain"](1)
    assert first.c == [] and first.c is not second.c


def test_check_when_it_refuses_then_the_error_passes() -> None:
    with pytest.raises(ValueError, match="negative"):
        OURS["Checked"](-1)


@pytest.mark.parametrize("extra", [{"kw_only": True}, {"init": False}])
def test_field_when_not_positional_then_refused(extra: dict[str, bool]) -> None:
    with pytest.raises(TypeError, match="positional"):

        @ours.dataclass(frozen=True, slots=True)
        class Refused:
            value: int = field(default=1, **extra)


def every() -> Iterator[type]:
    for module in pkgutil.walk_packages(recordmill.__path__, "recordmill."):
        if ".testing" not in module.name and "__main__" not in module.name:
            for value in vars(importlib.import_module(module.name)).values():
                if isinstance(value, type) and value.__module__ == module.name and dataclasses.is_dataclass(value):
                    yield value


def test_classes_of_the_package_when_frozen_then_fields_cannot_be_set_and_pickling_keeps_slots() -> None:
    seen = [made for made in every() if made.__setattr__ is ours._refuse_set]
    assert len(seen) > 80
    for made in seen:
        names = [entry.name for entry in dataclasses.fields(made)]
        blank = object.__new__(made)
        for name in names:
            object.__setattr__(blank, name, name)
        parameters = [entry.name for entry in dataclasses.fields(made) if entry.init]
        assert [*made.__match_args__] == parameters
        if made.__init__.__code__.co_filename == "<string>":  # not a method of its own
            assert [*inspect.signature(made.__init__).parameters][1:] == parameters
        with pytest.raises(FrozenInstanceError):
            blank.anything = 1
        if made.__getstate__ is ours._get_state and "__reduce__" not in made.__dict__:
            back = pickle.loads(pickle.dumps(blank))
            assert [getattr(back, name) for name in names] == names
