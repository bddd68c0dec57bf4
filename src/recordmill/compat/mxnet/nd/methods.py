"""Operations as methods of the array, which NumPy calls with options of its own."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from recordmill.compat.mxnet.nd.arithmetic import plain


def as_method(name: str, operation: Callable[..., Any]) -> Callable[..., Any]:
    """Method for an operation whose first argument is the array.

    Parameters
    ----------
    name : str
    operation : callable

    Returns
    -------
    callable
        NumPy's method of that name answers where an option is given that only NumPy has, such as ``out``.
    """
    numpys: Any = getattr(np.ndarray, name, None)
    if numpys is None:
        return operation
    known = set(inspect.signature(operation).parameters)

    @functools.wraps(operation)
    def method(self: Any, *arguments: Any, **options: Any) -> Any:
        if options.keys() <= known:
            return operation(self, *arguments, **options)
        return numpys(plain(self), *plain(arguments), **plain(options))

    return method
