"""The executors by the names that `decoder=` has."""

from __future__ import annotations

from functools import lru_cache

from recordmill.decode.executors.base import Executor
from recordmill.errors import MissingExtraError


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
        This build has none of that name, or what it needs is not installed.
    """
    if decoder == "native":
        raise MissingExtraError(
            "this build of recordmill has no native image decoder", hint='decoder="auto" takes what there is'
        )
    from recordmill.decode.executors.pillow import PillowExecutor

    return PillowExecutor()
