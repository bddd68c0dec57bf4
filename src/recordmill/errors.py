"""All exception classes. Each error states the problem, its location, and a solution.

::

    RecordmillError
    ├── FormatError (ValueError)            the format or compression is unknown, or not the declared one
    ├── DamageError (ValueError)            the bytes of a shard are corrupt
    │   ├── TruncatedError                  the data end inside a record
    │   ├── ChecksumError                   a stored checksum differs from the computed one
    │   ├── FramingError                    a length, magic number or record part is invalid
    │   ├── PayloadError                    a payload cannot be parsed
    │   └── CompressionError                a gzip or zlib stream is corrupt
    ├── FeatureError (ValueError)           a feature is missing, or has an unexpected kind or shape
    │   └── ExampleTypeError (TypeError)    an example is not a mapping, or a feature name is not a string
    ├── LimitError (ValueError)             a size exceeds a limit of the format or of the caller
    ├── ShardChangedError (OSError)         a shard was changed or replaced while it was open
    ├── RemoteError (OSError)               a request to an object store failed
    ├── IncompleteDatasetError (ValueError) shards of a dataset are missing, foreign or replaced
    ├── ManifestError (ValueError)          the manifest of a dataset is damaged, or of a newer version
    ├── WriteError (OSError)                the output could not be written; no file has its final name
    │   ├── OutputExistsError (FileExistsError)
    │   └── DestinationLockedError          another writer is writing to the same destination
    ├── ResumeError (ValueError)            a run cannot be resumed, because its source or options changed
    ├── PlanError (RuntimeError)            a part of a plan of `plan_pack` cannot be packed, or is missing
    ├── UnsupportedPathError (ValueError)   an address is not supported, or not supported here
    ├── InputError (ValueError)             an input of `pack` cannot be used
    │   ├── MissingInputError (FileNotFoundError)
    │   ├── LabelError                      a label is missing, unknown or malformed
    │   └── ImageError                      an image cannot be read
    ├── DecodeError (ValueError)            a feature of a sample cannot be decoded
    ├── MapError (RuntimeError)             a function of a pipeline failed or returned an invalid result
    ├── WhereError (ValueError)             a condition on records cannot be parsed or evaluated
    ├── StateError (ValueError)             a saved state is invalid or belongs to another pipeline
    ├── WorkerError (RuntimeError)          a loader's worker died, did not start, or could not send its result
    └── MissingExtraError (ImportError)     an optional package is not installed
"""

from __future__ import annotations

import errno
import pickle
from collections.abc import Sequence
from typing import Any

__all__ = [
    "ChecksumError",
    "CompressionError",
    "DamageError",
    "DecodeError",
    "DestinationLockedError",
    "ExampleTypeError",
    "FeatureError",
    "FormatError",
    "FramingError",
    "ImageError",
    "IncompleteDatasetError",
    "InputError",
    "LabelError",
    "LimitError",
    "ManifestError",
    "MapError",
    "MissingExtraError",
    "MissingInputError",
    "OutputExistsError",
    "PayloadError",
    "PlanError",
    "RecordmillError",
    "RemoteError",
    "ResumeError",
    "ShardChangedError",
    "StateError",
    "TruncatedError",
    "UnsupportedPathError",
    "WhereError",
    "WorkerError",
    "WriteError",
]


class RecordmillError(Exception):
    """Base class of all errors that recordmill raises.

    Every parameter is also an attribute.

    Parameters
    ----------
    message : str
        Description of the problem.
    kind : str, optional
        Machine-readable kind, as in verification reports (``"payload_checksum"``).
    shard : str, optional
        Path of the shard; in packing errors, path of the input file.
    record : int, optional
        Position of the record in its shard, from 0.
    offset : int, optional
        Bytes from the start of the uncompressed shard.
    expected, found : str, optional
        Expected value, and the value that was found instead.
    hint : str, optional
        Suggestion for solving the problem.
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
        """Return the message, the location and the hint, one line each."""
        lines = [self.message]
        if self.found is not None:
            lines[0] += f" (expected {self.expected}, found {self.found})" if self.expected else f" ({self.found})"
        if location := self._describe_location():
            lines.append("  " + ", ".join(location))
        if self.hint is not None:
            lines.append(f"  hint: {self.hint}")
        return "\n".join(lines)

    def _describe_location(self) -> list[str]:
        is_named = self.shard is None or self.message.startswith(self.shard)
        location = [] if is_named else [f"shard '{self.shard}'"]
        location += [f"record {self.record}"] if self.record is not None else []
        location += [f"offset {self.offset}"] if self.offset is not None else []
        return location

    def parts(self) -> dict[str, Any]:
        """Return the keyword arguments that recreate this error when they are passed to its class.

        Returns
        -------
        dict of str to object
        """
        names = ("kind", "shard", "record", "offset", "expected", "found", "hint")
        return {name: getattr(self, name) for name in names}

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the error as its class, message and keyword arguments."""
        parts = {
            name: _make_picklable(part) if isinstance(part, Exception) else part for name, part in self.parts().items()
        }
        return _create_error, (type(self), self.message, parts)


def _create_error(cls: type[RecordmillError], message: str, parts: dict[str, Any]) -> RecordmillError:
    return cls(message, **parts)


def _make_picklable(error: Exception) -> Exception:
    """Return the error if it can be pickled; otherwise return a `RecordmillError` that quotes the error."""
    try:
        copied = pickle.loads(pickle.dumps(error))  # noqa: S301 (our own bytes)
        if type(copied) is type(error):
            return error
    except Exception:  # noqa: BLE001, S110 (a foreign class may raise anything when it is pickled)
        pass
    return RecordmillError(f"{type(error).__name__}: {error}")


class FormatError(RecordmillError, ValueError):
    """The format or compression of a shard is unknown, or differs from the declared one."""


class DamageError(RecordmillError, ValueError):
    """The bytes of a shard are corrupt."""


class TruncatedError(DamageError):
    """The shard ends inside a record."""


class ChecksumError(DamageError):
    """A stored checksum differs from the computed one."""


class FramingError(DamageError):
    """A length, a magic number or a part of a split record is invalid."""


class PayloadError(DamageError):
    """A payload cannot be parsed as the expected message type."""


class CompressionError(DamageError):
    """A gzip or zlib stream is corrupt or ends early."""


class FeatureError(RecordmillError, ValueError):
    """A feature is missing, or has an unexpected kind or number of values.

    Parameters
    ----------
    message : str
        Description of the problem.
    feature : str, optional
        Name of the feature.
    **parts
        Keyword arguments of `RecordmillError`. When records are written, `record` counts all records of the writer.
    """

    def __init__(self, message: str, *, feature: str | None = None, **parts: Any) -> None:
        super().__init__(message, **parts)
        self.feature = feature

    def parts(self) -> dict[str, Any]:
        """Return the keyword arguments that recreate this error when they are passed to its class."""
        return super().parts() | {"feature": self.feature}


class ExampleTypeError(FeatureError, TypeError):
    """An example is not a mapping, a feature name is not a string, or a payload is not bytes."""


class LimitError(RecordmillError, ValueError):
    """A size exceeds a limit of the format or a limit that the caller set."""


class ShardChangedError(RecordmillError, OSError):
    """A shard shrank, grew or was replaced while it was open."""


class RemoteError(RecordmillError, OSError):
    """A request to an object store failed, even after retries.

    Parameters
    ----------
    message : str
        Description of the failure and its cause.
    byte_range : (int, int), optional
        Range of the object that was requested, in bytes.
    attempts : int, default 1
        Number of times that the request was sent.
    **parts
        Parameters of `RecordmillError`; `shard` is the address of the object. `kind` is one of "access_denied",
        "expired_credentials", "no_credentials", "missing_bucket", "http_status", "connection", "wrong_length" or
        "bad_request".
    """

    def __init__(
        self, message: str, *, byte_range: tuple[int, int] | None = None, attempts: int = 1, **parts: Any
    ) -> None:
        super().__init__(message, **parts)
        self.byte_range = byte_range
        self.attempts = attempts

    def _describe_location(self) -> list[str]:
        location = super()._describe_location()
        location += ["bytes {}-{}".format(*self.byte_range)] if self.byte_range is not None else []
        return location + ([f"{self.attempts} attempts"] if self.attempts > 1 else [])

    def parts(self) -> dict[str, Any]:
        """Return the keyword arguments that recreate this error when they are passed to its class."""
        return super().parts() | {"byte_range": self.byte_range, "attempts": self.attempts}


class IncompleteDatasetError(RecordmillError, ValueError):
    """A dataset has missing, additional or replaced shards, or its writer was interrupted.

    Parameters
    ----------
    message : str
        Description of the problem.
    missing : sequence of str
        Paths of the shards that do not exist.
    foreign : sequence of str
        Paths of the files that do not belong to the dataset.
    replaced : sequence of str
        Paths of the shards whose content differs from the manifest, for example shards of another run.
    **parts
        Keyword arguments of `RecordmillError`.
    """

    def __init__(
        self,
        message: str,
        *,
        missing: Sequence[str] = (),
        foreign: Sequence[str] = (),
        replaced: Sequence[str] = (),
        **parts: Any,
    ) -> None:
        super().__init__(message, **parts)
        self.missing = list(missing)
        self.foreign = list(foreign)
        self.replaced = list(replaced)

    def parts(self) -> dict[str, Any]:
        """Return the keyword arguments that recreate this error when they are passed to its class."""
        return super().parts() | {"missing": self.missing, "foreign": self.foreign, "replaced": self.replaced}


class ManifestError(RecordmillError, ValueError):
    """The manifest or journal of a dataset is damaged, or was written by a newer version of recordmill."""


class WriteError(RecordmillError, OSError):
    """The output could not be written. Every file that already has its final name is complete.

    Parameters
    ----------
    message : str
        Description of the problem.
    errno : int, optional
        Number of the system error that caused this one, such as `errno.ENOSPC`.
    **parts
        Keyword arguments of `RecordmillError`.
    """

    def __init__(self, message: str, *, errno: int | None = None, **parts: Any) -> None:
        super().__init__(message, **parts)
        self.errno = errno

    def parts(self) -> dict[str, Any]:
        """Return the keyword arguments that recreate this error when they are passed to its class."""
        return super().parts() | {"errno": self.errno}


class OutputExistsError(WriteError, FileExistsError):
    """The output already exists, and overwriting it was not requested."""


class DestinationLockedError(WriteError):
    """Another writer is writing to the same destination.

    Parameters
    ----------
    message : str
        Description of the problem.
    host : str, optional
        Name of the machine on which the other writer runs.
    pid : int, optional
        Process id of the other writer.
    started : str, optional
        Time at which the other writer started, in UTC.
    **parts
        Keyword arguments of `WriteError`.
    """

    def __init__(
        self,
        message: str,
        *,
        host: str | None = None,
        pid: int | None = None,
        started: str | None = None,
        **parts: Any,
    ) -> None:
        super().__init__(message, **parts)
        self.host = host
        self.pid = pid
        self.started = started

    def parts(self) -> dict[str, Any]:
        """Return the keyword arguments that recreate this error when they are passed to its class."""
        return super().parts() | {"host": self.host, "pid": self.pid, "started": self.started}


class ResumeError(RecordmillError, ValueError):
    """The source or the options of an interrupted run have changed, so the run cannot be resumed."""


class PlanError(RecordmillError, RuntimeError):
    """A packing plan cannot be executed: a part of the plan failed or is missing, or the plan is no longer valid.

    Parameters
    ----------
    message : str
        Description of the problem.
    part : int, optional
        Number of the part, from 0.
    cause : Exception, optional
        Error that caused this one.
    **parts
        Keyword arguments of `RecordmillError`. `shard` is the path of the input file, if the error concerns one.
    """

    def __init__(self, message: str, *, part: int | None = None, cause: Exception | None = None, **parts: Any) -> None:
        super().__init__(message, **parts)
        self.part = part
        self.cause = cause

    def _describe_location(self) -> list[str]:
        return ([f"part {self.part}"] if self.part is not None else []) + super()._describe_location()

    def parts(self) -> dict[str, Any]:
        """Return the keyword arguments that recreate this error when they are passed to its class."""
        return super().parts() | {"part": self.part, "cause": self.cause}


class UnsupportedPathError(RecordmillError, ValueError):
    """An address, such as ``hdfs://host/train``, is not supported, or is used where a local path is required."""


class InputError(RecordmillError, ValueError):
    """A file, folder or list that `pack` reads is invalid."""


class MissingInputError(InputError, FileNotFoundError):
    """A file or folder that `pack` reads does not exist; `filename` is its path."""

    def __init__(self, message: str, **parts: Any) -> None:
        super().__init__(message, **parts)
        self.errno, self.filename = errno.ENOENT, self.shard


class LabelError(InputError):
    """A label is missing, unknown or malformed."""


class ImageError(InputError):
    """An image cannot be read."""


class MissingExtraError(RecordmillError, ImportError):
    """A function requires an optional package that is not installed."""


class DecodeError(RecordmillError, ValueError):
    """A feature of one sample of a batch cannot be decoded.

    Parameters
    ----------
    message : str
        Description of the problem.
    position : int, optional
        Position of the sample in the batch, from 0.
    feature : str, optional
        Name of the feature.
    cause : Exception, optional
        Error that caused this one.
    **parts
        Keyword arguments of `RecordmillError`.
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

    def _describe_location(self) -> list[str]:
        location = [f"sample {self.position} of the batch"] if self.position is not None else []
        location += [f"feature '{self.feature}'"] if self.feature is not None else []
        return location + super()._describe_location()

    def parts(self) -> dict[str, Any]:
        """Return the keyword arguments that recreate this error when they are passed to its class."""
        return super().parts() | {"position": self.position, "feature": self.feature, "cause": self.cause}


class WorkerError(RecordmillError, RuntimeError):
    """A worker process or thread of a loader died, did not start, or could not return its result.

    Parameters
    ----------
    message : str
        Description of the problem.
    place : int, optional
        Number of the element (sample or batch) that the worker was computing, from 0.
    exit_code : int, optional
        Exit code of the worker process; the negative signal number if a signal ended the process.
    stage : str, optional
        Printed form of the pipeline stage that the worker was running.
    function : str, optional
        Name of the function that the worker was running.
    position : int, optional
        Position in the epoch of the sample that the function was processing, from 0.
    **parts
        Keyword arguments of `RecordmillError`.
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

    def _describe_location(self) -> list[str]:
        location = [f"element {self.place}"] if self.place is not None else []
        return location + _describe_stage(self.stage, self.position) + super()._describe_location()

    def parts(self) -> dict[str, Any]:
        """Return the keyword arguments that recreate this error when they are passed to its class.

        Returns
        -------
        dict of str to object
        """
        names = ("place", "exit_code", "stage", "function", "position")
        return super().parts() | {name: getattr(self, name) for name in names}


class MapError(RecordmillError, RuntimeError):
    """A function in a pipeline raised an error, hung, changed its input, or returned an invalid result.

    Parameters
    ----------
    message : str
        Description of the problem.
    stage : str, optional
        Printed form of the pipeline stage.
    function : str, optional
        Name of the function.
    position : int, optional
        Position of the sample in the epoch, from 0.
    cause : Exception, optional
        Error that the function raised.
    **parts
        Keyword arguments of `RecordmillError`.
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

    def _describe_location(self) -> list[str]:
        return _describe_stage(self.stage, self.position) + super()._describe_location()

    def parts(self) -> dict[str, Any]:
        """Return the keyword arguments that recreate this error when they are passed to its class."""
        names = ("stage", "function", "position", "cause")
        return super().parts() | {name: getattr(self, name) for name in names}


def _describe_stage(stage: str | None, position: int | None) -> list[str]:
    location = [f"stage {stage}"] if stage is not None else []
    return location + ([f"sample {position} of the epoch"] if position is not None else [])


class WhereError(RecordmillError, ValueError):
    """A condition on records, such as ``label == 3``, cannot be parsed or evaluated.

    Parameters
    ----------
    message : str
        Description of the problem.
    column : int, optional
        Position in the text of the condition, from 0.
    expression : str, optional
        Line of the condition, and a second line that points at the column.
    **parts
        Keyword arguments of `RecordmillError`.
    """

    def __init__(self, message: str, *, column: int | None = None, expression: str | None = None, **parts: Any) -> None:
        super().__init__(message, **parts)
        self.column = column
        self.expression = expression

    def __str__(self) -> str:
        """Return the message, the condition with a mark at the position of the error, the location and the hint."""
        first, *rest = super().__str__().splitlines()
        shown = [f"    {line}" for line in (self.expression or "").splitlines()]
        return "\n".join([first, *shown, *rest])

    def parts(self) -> dict[str, Any]:
        """Return the keyword arguments that recreate this error when they are passed to its class."""
        return super().parts() | {"column": self.column, "expression": self.expression}


class StateError(RecordmillError, ValueError):
    """A saved state is invalid or belongs to another pipeline."""
