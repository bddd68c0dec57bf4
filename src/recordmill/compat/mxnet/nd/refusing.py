"""What NumPy refuses, as an MXNetError that names the operation."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from recordmill.compat.mxnet.base import MXNetError, ParameterError

T = TypeVar("T")


def named(function: Callable[..., T]) -> Callable[..., T]:
    """Wrap an operation so that shapes, axes and numbers that do not go together are a ParameterError.

    Parameters
    ----------
    function : callable

    Returns
    -------
    callable
    """

    @functools.wraps(function)
    def checked(*arguments: Any, **options: Any) -> T:
        try:
            return function(*arguments, **options)
        except MXNetError:
            raise
        except (ValueError, IndexError) as error:
            raise ParameterError(f"{function.__name__}: {error}", kind="bad_parameter") from error

    return checked
