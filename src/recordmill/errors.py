"""The whole exception tree; every error says what was expected and found, where, and how to go on.

::

    RecordmillError
    ├── FormatError (ValueError)            another format or compression than declared, or none that is known
    ├── DamageError (ValueError)            bytes that cannot be what was written
    │   ├── TruncatedError                  the data end too early
    │   ├── ChecksumError                   a stored checksum differs from the computed one
    │   ├── FramingError                    lengths, magic words or parts that make no sense
    │   ├── PayloadError                    a payload that does not parse
    │   └── CompressionError                a damaged gzip or zlib stream
    ├── FeatureError (ValueError)           a feature is missing, or of another kind or shape than asked for
    ├── LimitError (ValueError)             more than a limit that was set allows
    ├── ShardChangedError (OSError)         a shard shrank, grew or was replaced while it was open
    ├── WriteError (OSError)                output that could not be written; nothing stands under its final name
    │   └── OutputExistsError (FileExistsError)
    ├── InputError (ValueError)             input of packing that cannot be used
    │   ├── LabelError                      a missing, unknown or malformed label
    │   └── ImageError                      an image that cannot be read
    ├── DecodeError (ValueError)            a feature of one sample of a batch that does not become an array
    ├── MapError (RuntimeError)             a function in a pipeline that fails, hangs, or returns what does not fit
    ├── StateError (ValueError)             a saved state of another pipeline, or of none
    ├── WorkerError (RuntimeError)          a worker of a loader ended, did not start, or cannot send its result
    └── MissingExtraError (ImportError)     an optional package is not installed
"""

from __future__ import annotations

import pickle
from typing import Any

__all__ = [
    "ChecksumError",
    "CompressionError",
    "DamageError",
    "DecodeError",
    "FeatureError",
    "FormatError",
    "FramingError",
    "ImageError",
    "InputError",
    "LabelError",
    "LimitError",
    "MapError",
    "MissingExtraError",
    "OutputExistsError",
    "PayloadError",
    "RecordmillError",
    "ShardChangedError",
    "StateError",
    "TruncatedError",
    "WorkerError",
    "WriteError",
]


class RecordmillError(Exception):
    """Base of all errors raised here.

    Parameters
    ----------
    message : str
        What is wrong, in words.
    kind : str, optional
        Machine-readable kind, as in verify reports (``"payload_checksum"``).
    shard : str, optional
        Path of the shard (of the input file in packing errors).
    record : int, optional
        Position of the record in its shard, from 0.
    offset : int, optional
        Bytes from the start of the uncompressed shard.
    expected, found : str, optional
        What a sound input would hold, and what was there.
    hint : str, optional
        How to go on.
    """

    def __init__(
        self,
        message: str,
        *,
        kind: str | None = None,
        shard: str | None = None,
        record: int | None = None,
        offset: int | None = None,
        expected: str | None = None,
        found: str | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.kind = kind
        self.shard = shard
        self.record = record
        self.offset = offset
        self.expected = expected or None
        self.found = found or None
        self.hint = hint

    def __str__(self) -> str:
        """Message, place and hint, a line each."""
        lines = [self.message]
        if self.found is not None:
            lines[0] += f" (expected {self.expected}, found {self.found})" if self.expected else f" ({self.found})"
        if place := self._place():
            lines.append("  " + ", ".join(place))
        if self.hint is not None:
            lines.append(f"  hint: {self.hint}")
        return "\n".join(lines)

    def _place(self) -> list[str]:
        place = [f"shard '{self.shard}'"] if self.shard is not None else []
        place += [f"record {self.record}"] if self.record is not None else []
        place += [f"offset {self.offset}"] if self.offset is not None else []
        return place

    def parts(self) -> dict[str, Any]:
        """Keyword arguments that build this error again.

        Returns
        -------
        dict of str to object
        """
        names = ("kind", "shard", "record", "offset", "expected", "found", "hint")
        return {name: getattr(self, name) for name in names}

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by message and parts; a cause of a class that cannot be pickled is told in words."""
        parts = {name: _portable(part) if isinstance(part, Exception) else part for name, part in self.parts().items()}
        return _rebuild, (type(self), self.message, parts)


def _rebuild(cls: type[RecordmillError], message: str, parts: dict[str, Any]) -> RecordmillError:
    return cls(message, **parts)


def _portable(error: Exception) -> Exception:
    """Return the error itself if it can be pickled and built again, one that says the same otherwise."""
    try:
        again = pickle.loads(pickle.dumps(error))  # noqa: S301 (our own bytes)
        if type(again) is type(error):
            return error
    except Exception:  # noqa: BLE001, S110 (whatever a foreign class raises when it is pickled)
        pass
    return RecordmillError(f"{type(error).__name__}: {error}")


class FormatError(RecordmillError, ValueError):
    """The bytes are of another format or compression than declared, or of none that is known."""


class DamageError(RecordmillError, ValueError):
    """The bytes cannot be what was written."""


class TruncatedError(DamageError):
    """The data end inside a record."""


class ChecksumError(DamageError):
    """A stored checksum differs from the computed one."""


class FramingError(DamageError):
    """A length, magic word or part that makes no sense where it stands."""


class PayloadError(DamageError):
    """A payload does not parse as the message that it should be."""


class CompressionError(DamageError):
    """A gzip or zlib stream is damaged or ends early."""


class FeatureError(RecordmillError, ValueError):
    """A feature is missing, or has another kind or number of values than asked for."""


class LimitError(RecordmillError, ValueError):
    """Something is larger than a limit allows."""


class ShardChangedError(RecordmillError, OSError):
    """A shard shrank, grew or was replaced while it was open."""


class WriteError(RecordmillError, OSError):
    """Output could not be written; nothing incomplete stands under a final name."""


class OutputExistsError(WriteError, FileExistsError):
    """Output is already there and replacing it was not asked for."""


class InputError(RecordmillError, ValueError):
    """Input of packing that cannot be used."""


class LabelError(InputError):
    """A label is missing, unknown or malformed."""


class ImageError(InputError):
    """An image cannot be read."""


class MissingExtraError(RecordmillError, ImportError):
    """A package that an option needs is not installed."""


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
