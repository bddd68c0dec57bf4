"""Checks of shapes and dtypes that raise: the other half of ``tf.debugging``."""

from __future__ import annotations

from typing import Any

from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.dtypes import as_dtype
from recordmill.compat.tensorflow.core.tensor import Tensor, as_tensor


def _rank(x: Any, message: Any, text: str, held: Any) -> None:
    shape = array_of(x).shape
    if not held(len(shape)):
        start = f"{message}.  " if message else ""
        raise ValueError(f"{start}Tensor  must have rank {text}.  Received rank {len(shape)}, shape {shape}")


@op("debugging.assert_rank", always=True)
def assert_rank(x: Any, rank: Any, message: Any = None) -> None:
    """Refuse another number of axes."""
    wanted = int(array_of(rank))
    _rank(x, message, str(wanted), lambda found: found == wanted)


@op("debugging.assert_rank_at_least", always=True)
def assert_rank_at_least(x: Any, rank: Any, message: Any = None) -> None:
    """Refuse fewer axes."""
    wanted = int(array_of(rank))
    _rank(x, message, f"at least {wanted}", lambda found: found >= wanted)


@op("debugging.assert_rank_in", always=True)
def assert_rank_in(x: Any, ranks: Any, message: Any = None) -> None:
    """Refuse numbers of axes that are not listed."""
    wanted = tuple(int(array_of(one)) for one in ranks)
    _rank(x, message, f"in {wanted}", lambda found: found in wanted)


@op("debugging.assert_scalar", always=True)
def assert_scalar(tensor: Any, message: Any = None) -> Tensor:
    """Refuse tensors with axes."""
    found = as_tensor(tensor)
    if found.ndim:
        raise ValueError(f"{message or ''}Expected scalar shape, saw shape: {found.shape}.")
    return found


@op("debugging.assert_type", always=True)
def assert_type(tensor: Any, tf_type: Any, message: Any = None) -> None:
    """Refuse another dtype."""
    found, wanted = as_tensor(tensor).dtype, as_dtype(tf_type)
    if found != wanted:
        start = f"{message}  " if message else ""
        raise TypeError(f"{start}tensor must be of type {wanted!r}; got {found!r}")


@op("debugging.assert_integer", always=True)
def assert_integer(x: Any, message: Any = None) -> None:
    """Refuse what is not made of whole numbers."""
    found = as_tensor(x).dtype
    if not found.is_integer:
        start = f"{message}  " if message else ""
        raise TypeError(f'{start}Expected "x" to be integer type.  Found: tensor of dtype {found}')


@op("debugging.assert_shapes", always=True)
def assert_shapes(shapes: Any, data: Any = None, summarize: Any = None, message: Any = None) -> None:  # noqa: ARG001
    """Refuse shapes that do not go together."""
    known: dict[str, int] = {}
    pairs = shapes.items() if isinstance(shapes, dict) else shapes
    for value, wanted in pairs:
        shape = array_of(value).shape
        if not hasattr(wanted, "__iter__"):
            raise ValueError(f"Specified shape must be an iterable.  Received specified shape: {wanted}")
        entries = list(wanted)
        anything = bool(entries) and (entries[0] is Ellipsis or entries[0] == "*")
        entries = entries[1:] if anything else entries
        if len(shape) < len(entries) or (len(shape) != len(entries) and not anything):
            raise ValueError(
                f"{message or ''}Tensor shape={shape} must have rank {len(entries)}.  "
                f"Received rank {len(shape)}, shape {shape}"
            )
        for at, (length, entry) in enumerate(zip(shape[len(shape) - len(entries) :], entries, strict=True)):
            _check_length(shape, at + len(shape) - len(entries), length, entry, known, message)


def _check_length(
    shape: tuple[int, ...], at: int, length: int, entry: Any, known: dict[str, int], message: Any
) -> None:
    if entry is None or entry == ".":
        return
    named = isinstance(entry, str) and not entry.isdigit()
    size = known.setdefault(entry, length) if named else int(entry)
    if size != length:
        raise ValueError(
            f"{message or ''}Tensor shape={shape} dimension {at} must have size {size}.  "
            f"Received size {length}, shape {shape}"
        )


def is_numeric_tensor(tensor: Any) -> bool:
    """Whether something is a tensor of numbers."""
    return isinstance(tensor, Tensor) and tensor.dtype.is_numeric


@op("debugging.assert_same_float_dtype", always=True)
def assert_same_float_dtype(tensors: Any = None, dtype: Any = None) -> Any:
    """Refuse several dtypes, or one that is not of floating-point numbers."""
    found = [as_tensor(one).dtype for one in tensors or ()]
    wanted = as_dtype(dtype) if dtype is not None else found[0] if found else as_dtype("float32")
    for one in found:
        if one != wanted:
            raise ValueError(f"type={one}, must be of the same type ({wanted}).")
    if not wanted.is_floating:
        raise ValueError(f"Expected floating point type, got {wanted}.")
    return wanted
