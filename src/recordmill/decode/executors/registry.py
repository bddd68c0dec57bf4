"""The executors by the names that `decoder=` has."""

from __future__ import annotations

from functools import lru_cache

from recordmill.decode.executors.base import Executor


@lru_cache(maxsize=4)
def executor_of(decoder: str) -> Executor:
    """Return the executor that a spec asks for.

    Parameters
    ----------
    decoder : {"auto", "pillow", "native"}

    Returns
    -------
    Executor

    Raises
    ------
    MissingExtraError
        What it needs is not installed.
    """
    from recordmill.decode.executors.native import NativeExecutor
    from recordmill.decode.executors.pillow import PillowExecutor

    if decoder == "pillow":
        return PillowExecutor()
    return NativeExecutor(PillowExecutor if decoder == "auto" else None)
