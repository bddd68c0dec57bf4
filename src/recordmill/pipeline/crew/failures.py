"""Errors on their way out of a worker process: causes, notes and the text of the traceback go with them."""

from __future__ import annotations

import os
import pickle
import traceback

from recordmill.dataclass import dataclass
from recordmill.errors import WorkerError

_MAX_LINKS = 16
_MAX_TEXT = 20_000


@dataclass(frozen=True, slots=True)
class Failure:
    """An error and those behind it, in a form that can be pickled.

    Parameters
    ----------
    errors : tuple of BaseException
        The error, what it came from, what that came from, and so on.
    notes : tuple of tuple of str
        Notes of each.
    are_causes : tuple of bool
        For each but the last, whether it was raised ``from`` the next.
    """

    errors: tuple[BaseException, ...]
    notes: tuple[tuple[str, ...], ...]
    are_causes: tuple[bool, ...]

    def error(self) -> BaseException:
        """Link the errors again.

        Returns
        -------
        BaseException
            The first, with the others behind it.
        """
        for error, notes in zip(self.errors, self.notes, strict=True):
            error.__notes__ = list(notes)
        for error, behind, is_cause in zip(self.errors[:-1], self.errors[1:], self.are_causes, strict=True):
            if is_cause:
                error.__cause__ = behind
            else:
                error.__context__ = behind
        return self.errors[0]


def packed(error: BaseException) -> Failure:
    """Take an error apart.

    Parameters
    ----------
    error : BaseException

    Returns
    -------
    Failure
    """
    text = "".join(traceback.format_exception(error))
    if len(text) > _MAX_TEXT:
        text = f"{text[: _MAX_TEXT // 2]}\n…\n{text[-_MAX_TEXT // 2 :]}"
    links = [error]
    are_causes = []
    while len(links) < _MAX_LINKS and (behind := _behind(links[-1])) is not None and behind not in links:
        are_causes.append(links[-1].__cause__ is not None)
        links.append(behind)
    notes = [tuple(map(str, getattr(link, "__notes__", ()))) for link in links]
    notes[0] += (f"in worker process {os.getpid()}:\n{text.rstrip()}",)
    return Failure(tuple(map(_portable, links)), tuple(notes), tuple(are_causes))


def _behind(error: BaseException) -> BaseException | None:
    return error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def _portable(error: BaseException) -> BaseException:
    """Return the error itself if it can be pickled and built again, one that says the same otherwise."""
    try:
        again = pickle.loads(pickle.dumps(error, 5))  # noqa: S301 (our own bytes)
        if type(again) is type(error):
            return error
    except Exception:  # noqa: BLE001, S110 (whatever a foreign class raises when it is pickled)
        pass
    try:
        text = str(error)
    except Exception:  # noqa: BLE001 (the same)
        text = "?"
    return WorkerError(
        f"{type(error).__name__}: {text}", hint=f"{type(error).__name__} cannot be pickled; this stands for it"
    )
