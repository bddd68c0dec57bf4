"""Waits for workers, and names the function that keeps one of them too long."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recordmill.errors import MapError

if TYPE_CHECKING:
    from recordmill.pipeline.crew.base import Crew
    from recordmill.pipeline.maker import Maker


def take_watched(crew: Crew, place: int, maker: Maker, timeout: float | None) -> Any:
    """Wait for an element, but not for a function that hangs.

    Parameters
    ----------
    crew : Crew
    place : int
    maker : Maker
        Whose functions are called.
    timeout : float, optional
        Seconds that one call of a function may take.

    Returns
    -------
    object

    Raises
    ------
    MapError
        A call took longer.
    """
    if timeout is None:
        return crew.take(place)
    while True:
        try:
            return crew.take(place, timeout=timeout / 2)
        except TimeoutError:
            _blame(crew, place, maker, timeout)


def _blame(crew: Crew, place: int, maker: Maker, timeout: float) -> None:
    for calling in maker.calling():
        if calling.seconds > timeout:
            raise MapError(
                f"{calling.function} hangs: it has not returned for {calling.seconds:.1f} s",
                kind="function_hangs",
                stage=calling.stage,
                function=calling.function,
                position=calling.position,
                expected=f"at most {timeout:g} s",
                hint="map(timeout=…) sets the limit",
            )
    # Worker processes do not tell what they are doing: all calls of an element together are held against the limit.
    calls = 1 if maker.batch is None else maker.batch.size
    for made, seconds in crew.running():
        if made == place and maker.functions and not maker.shares_memory and seconds > timeout * calls:
            stage = maker.functions[0]
            raise MapError(
                f"{stage!r} hangs: its worker has been busy for {seconds:.1f} s",
                kind="function_hangs",
                stage=repr(stage),
                expected=f"at most {timeout:g} s for each of {calls} samples",
                hint="map(timeout=…) sets the limit",
            )
