"""Errors of samples on their way through a pipeline."""

from __future__ import annotations

from typing import Any

from recordmill.errors.base import RecordmillError


class DecodeError(RecordmillError, ValueError):
    """A feature of one sample of a batch does not become an array.

    Parameters
    ----------
    message : str
        What is wrong, in words.
    position : int, optional
        Of the sample in the batch, from 0.
    feature : str, optional
        Name of the feature.
    cause : Exception, optional
        The error behind it.
    **parts
        As in `RecordmillError`.
    """

    def __init__(
        self,
        message: str,
        *,
        position: int | None = None,
        feature: str | None = None,
        cause: Exception | None = None,
        **parts: Any,
    ) -> None:
        super().__init__(message, **parts)
        self.position = position
        self.feature = feature
        self.cause = cause

    def _place(self) -> list[str]:
        place = [f"sample {self.position} of the batch"] if self.position is not None else []
        place += [f"feature '{self.feature}'"] if self.feature is not None else []
        return place + super()._place()

    def parts(self) -> dict[str, Any]:
        """Keyword arguments that build this error again.

        Returns
        -------
        dict of str to object
        """
        return super().parts() | {"position": self.position, "feature": self.feature, "cause": self.cause}


class WorkerError(RecordmillError, RuntimeError):
    """A worker of a loader ended, did not start, or cannot send its result.

    Parameters
    ----------
    message : str
        What is wrong, in words.
    place : int, optional
        Number of the element that the worker was making.
    exit_code : int, optional
        What the worker process ended with; minus the number of the signal that ended it.
    stage, function : str, optional
        The stage as it prints and the name of the function that the worker was in.
    position : int, optional
        Of its sample in the epoch, from 0.
    **parts
        As in `RecordmillError`.
    """

    def __init__(
        self,
        message: str,
        *,
        place: int | None = None,
        exit_code: int | None = None,
        stage: str | None = None,
        function: str | None = None,
        position: int | None = None,
        **parts: Any,
    ) -> None:
        super().__init__(message, **parts)
        self.place = place
        self.exit_code = exit_code
        self.stage = stage
        self.function = function
        self.position = position

    def _place(self) -> list[str]:
        place = [f"element {self.place}"] if self.place is not None else []
        return place + _of_function(self.stage, self.position) + super()._place()

    def parts(self) -> dict[str, Any]:
        """Keyword arguments that build this error again.

        Returns
        -------
        dict of str to object
        """
        names = ("place", "exit_code", "stage", "function", "position")
        return super().parts() | {name: getattr(self, name) for name in names}


class MapError(RecordmillError, RuntimeError):
    """A function in a pipeline raised, hangs, changes its input, or returns what does not fit.

    Parameters
    ----------
    message : str
        What is wrong, in words.
    stage : str, optional
        The stage as it prints.
    function : str, optional
        Name of the function.
    position : int, optional
        Of the sample in the epoch, from 0.
    cause : Exception, optional
        What the function raised.
    **parts
        As in `RecordmillError`.
    """

    def __init__(
        self,
        message: str,
        *,
        stage: str | None = None,
        function: str | None = None,
        position: int | None = None,
        cause: Exception | None = None,
        **parts: Any,
    ) -> None:
        super().__init__(message, **parts)
        self.stage = stage
        self.function = function
        self.position = position
        self.cause = cause

    def _place(self) -> list[str]:
        return _of_function(self.stage, self.position) + super()._place()

    def parts(self) -> dict[str, Any]:
        """Keyword arguments that build this error again.

        Returns
        -------
        dict of str to object
        """
        mine = {name: getattr(self, name) for name in ("stage", "function", "position", "cause")}
        return super().parts() | mine


def _of_function(stage: str | None, position: int | None) -> list[str]:
    place = [f"stage {stage}"] if stage is not None else []
    return place + ([f"sample {position} of the epoch"] if position is not None else [])


class StateError(RecordmillError, ValueError):
    """A saved state belongs to another pipeline, or is none."""
