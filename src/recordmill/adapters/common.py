"""Functions that several adapters share: they import frameworks and check arguments."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from operator import index
from typing import Any

import numpy as np

import recordmill as rm
from recordmill.errors import MissingExtraError


@contextmanager
def require_extra(name: str, hint: str | None = None) -> Iterator[None]:
    """Context manager: if an import in its block fails, raise MissingExtraError, which names the extra to install."""
    try:
        yield
    except ModuleNotFoundError as error:
        hint = hint or f"pip install 'recordmill[{name}]'"
        raise MissingExtraError(f"recordmill.{name} needs the package {error.name}", hint=hint) from error


def combine_classes(implementation: type, base: type, module: str) -> Any:
    """Create a class that inherits from an adapter class and a framework class; it gets the name of the adapter class.

    Adapters define their classes without the framework's base class, so that they import no framework.
    """
    return type(
        implementation.__name__, (implementation, base), {"__module__": module, "__doc__": implementation.__doc__}
    )


def is_non_negative_integer(value: Any) -> bool:
    """Return whether a value is an integer of at least 0, and not a bool."""
    return not isinstance(value, bool) and hasattr(value, "__index__") and index(value) >= 0


def check_epoch(value: Any) -> int:
    """Return an epoch number as an int; raise ValueError if it is not an integer from 0 to 2**32 - 1."""
    if not is_non_negative_integer(value) or index(value) >> 32:
        raise ValueError(f"epoch must be an integer from 0 to 2**32 - 1, got {value!r}")
    return index(value)


def check_positional_access(dataset: rm.Dataset, hint: str) -> None:
    """Raise ValueError if the dataset has a `shard` stage, because only loaders support this stage."""
    if dataset.is_sharded:
        raise ValueError(f"a dataset with shard() cannot be read by position; remove shard(), because {hint}")


def contains_bytes(ragged: rm.Ragged) -> bool:
    """Return whether the innermost rows of a Ragged are byte strings."""
    data = ragged.data
    while isinstance(data, rm.Ragged):
        data = data.data
    return bool(data.dtype == np.uint8 and data.ndim == 1)
