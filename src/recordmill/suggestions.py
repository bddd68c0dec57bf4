"""Suggest the correct spelling of a name, or the recordmill argument that replaces an argument of another library."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import update_wrapper
from types import FunctionType
from typing import Any, TypeVar, cast

# Minimum similarity at which an unknown name in a compat module counts as misspelled. A less similar name is probably
# a correct name of TensorFlow, MXNet or OneFlow that recordmill does not support.
MISSPELLED = 0.8

F = TypeVar("F", bound=Callable[..., Any])
C = TypeVar("C", bound=type)

# (keyword argument of other libraries, equivalent argument of recordmill, text of the hint).
_FOREIGN: tuple[tuple[str, str, str], ...] = (
    ("drop_last", "last", 'last="drop"'),
    ("drop_remainder", "last", 'last="drop"'),
    ("batch_size", "size", "size="),
    ("buffer_size", "window", "seed= to mix all records, without a buffer, or window= to read almost in file order"),
    ("reshuffle_each_iteration", "window", "seed= alone, because every epoch has a different order"),
    ("generator", "seed", "seed="),
    ("num_workers", "threads", "threads="),
    ("num_workers", "workers", "workers="),
    ("num_parallel_calls", "workers", "threads= of loader()"),
    ("prefetch_factor", "prefetch", "prefetch="),
    ("prefetch_buffer_size", "prefetch", "prefetch="),
    ("num_replicas", "world_size", "world_size="),
    ("num_shards", "shards", "shards="),
    ("num_shards", "world_size", "world_size="),
    ("compression_type", "compression", "compression="),
    ("features", "schema", "schema="),
)

# Messages for arguments that are passed by position to a method that takes keyword arguments only.
_POSITIONAL = {
    "shuffle": "shuffle() takes keyword arguments only. It needs no buffer size, because it mixes all records; "
    "use shuffle(seed={0}) for a seed, or shuffle(window={0}) to read almost in file order",
}
_KEYWORD_KINDS = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def suggest_name(name: str, names: Iterable[str], cutoff: float = 0.6) -> str | None:
    """Return the name most similar to a misspelled name; None if all similarities are below `cutoff` (0 to 1)."""
    from difflib import get_close_matches

    return next(iter(get_close_matches(name, list(names), 1, cutoff)), None)


def suggest_arguments(function: F) -> F:
    """Decorate a public function, so that the TypeError for an unknown argument suggests an existing argument."""

    def call_function(*args: Any, **options: Any) -> Any:
        try:
            return function(*args, **options)
        except TypeError as error:
            # If the traceback ends in this wrapper, the arguments do not match the signature of `function`. Otherwise,
            # the code of `function` raised the error.
            if error.__traceback__ is None or error.__traceback__.tb_next is not None:
                raise
            message = build_message(function, args, options)
            if message is None:
                raise
        raise TypeError(message)

    build_message = _build_error_message
    # doctest finds the examples of the decorated function only if the wrapper has the globals of the function.
    wrapper = FunctionType(
        call_function.__code__, function.__globals__, function.__name__, None, call_function.__closure__
    )
    return cast("F", update_wrapper(wrapper, function))


def suggest_constructor_arguments(cls: C) -> C:
    """Decorate a public class: apply `suggest_arguments` to its constructor."""
    cls.__init__ = suggest_arguments(cls.__init__)  # type: ignore[misc]
    return cls


def _build_error_message(function: Callable[..., Any], args: tuple[Any, ...], options: Mapping[str, Any]) -> str | None:
    """Return the message for a call with wrong arguments; None if there is nothing to suggest."""
    parameters = inspect.signature(function).parameters
    name = function.__qualname__.removesuffix(".__init__").rpartition(".")[2]
    keywords = [key for key, parameter in parameters.items() if parameter.kind in _KEYWORD_KINDS and key != "self"]
    unknown = next((key for key in options if key not in keywords), None)
    if unknown is not None:
        hint = _build_hint(unknown, keywords)
        return f"{name}() got an unexpected keyword argument {unknown!r}{hint}" if hint else None
    return _POSITIONAL[name].format(args[1]) if name in _POSITIONAL and len(args) > 1 else None


def check_option_names(function: str, options: Iterable[str], names: Iterable[str]) -> None:
    """Raise TypeError if an option is not in `names`. Functions that take ``**options`` call this function."""
    known = list(names)
    for option in options:
        if option not in known:
            hint = _build_hint(option, known)
            raise TypeError(f"{function}() got an unexpected keyword argument {option!r}{hint}")


def _build_hint(unknown: str, keywords: list[str]) -> str:
    foreign = next((hint for key, needed, hint in _FOREIGN if key == unknown and needed in keywords), None)
    if foreign is not None:
        return f"; use {foreign}"
    similar = suggest_name(unknown, keywords)
    return f"; did you mean {similar!r}?" if similar else ""
