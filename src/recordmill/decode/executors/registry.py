"""The executors by the names that `decoder=` has."""

from __future__ import annotations

from functools import lru_cache

from recordmill.decode.executors.base import Executor


@lru_cache(maxsize=4)
def executor_of(decoder: str) -> Executor:
    """Return the executor that a spec asks for."""
    if decoder == "pillow":
        return _pillow()
    from recordmill.decode.executors.native import NativeExecutor

    return NativeExecutor(_pillow if decoder == "auto" else None)


def _pillow() -> Executor:
    """Loaded where there is something for it to do: most batches never need it."""
    from recordmill.decode.executors.pillow import PillowExecutor

    return PillowExecutor()
