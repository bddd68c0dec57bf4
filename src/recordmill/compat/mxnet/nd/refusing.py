"""What every operation has: an array for its result, and an MXNetError with its name for what NumPy refuses."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from recordmill.compat.mxnet.base import MXNetError, ParameterError

T = TypeVar("T")


def named(function: Callable[..., T]) -> Callable[..., T]:
    """Wrap an operation so that it takes `out`, and what does not go together is a ParameterError."""

    @functools.wraps(function)
    def checked(*arguments: Any, out: Any = None, **options: Any) -> T:
        try:
            found = function(*arguments, **options)
        except MXNetError:
            raise
        except (ValueError, IndexError) as error:
            raise ParameterError(f"{function.__name__}: {error}", kind="bad_parameter") from error
        return found if out is None else _put(found, out, function.__name__)

    return checked


def _put(found: Any, out: Any, name: str) -> Any:
    """Put a result into the array that was given for it."""
    if (found.shape, found.dtype) != (out.shape, out.dtype):
        message, expected = f"{name}: out is of another shape or dtype", f"{found.dtype} of shape {found.shape}"
        found = f"{out.dtype} of shape {out.shape}"
        raise ParameterError(message, kind="bad_shape", expected=expected, found=found)
    out[...] = found
    return out
