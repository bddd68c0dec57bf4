"""TensorFlow's exceptions. Each inherits from RecordmillError and, if possible, from a similar built-in exception.

References
----------
tensorflow/python/framework/errors_impl.py (names and codes).
"""

from __future__ import annotations

from typing import Any

from recordmill.compat.tensorflow.core.absent import make_absent_getattr
from recordmill.errors import RecordmillError

__getattr__ = make_absent_getattr(__name__, "errors")

OK, CANCELLED, UNKNOWN, INVALID_ARGUMENT, DEADLINE_EXCEEDED, NOT_FOUND, ALREADY_EXISTS, PERMISSION_DENIED = range(8)
RESOURCE_EXHAUSTED, FAILED_PRECONDITION, ABORTED, OUT_OF_RANGE, UNIMPLEMENTED, INTERNAL, UNAVAILABLE = range(8, 15)
DATA_LOSS, UNAUTHENTICATED = 15, 16


class OpError(RecordmillError):
    """``tf.errors.OpError``: base class of the errors that operations raise."""

    error_code = UNKNOWN

    def __init__(self, *args: Any, node_def: Any = None, op: Any = None, message: Any = None, **parts: Any) -> None:
        if len(args) > 2:
            node_def, op, message = args[:3]
        elif args:
            message = args[0]
        super().__init__("" if message is None else str(message), **parts)
        self.node_def, self.op = node_def, op


class CancelledError(OpError):
    """The operation was canceled."""

    error_code = CANCELLED


class UnknownError(OpError):
    """The cause is unknown."""


class InvalidArgumentError(OpError, ValueError):
    """An argument or the content of a record is invalid."""

    error_code = INVALID_ARGUMENT


class DeadlineExceededError(OpError, TimeoutError):
    """A deadline passed."""

    error_code = DEADLINE_EXCEEDED


class NotFoundError(OpError, FileNotFoundError):
    """A file or folder does not exist."""

    error_code = NOT_FOUND


class AlreadyExistsError(OpError, FileExistsError):
    """A file or folder already exists."""

    error_code = ALREADY_EXISTS


class PermissionDeniedError(OpError, PermissionError):
    """Reading or writing is not permitted."""

    error_code = PERMISSION_DENIED


class ResourceExhaustedError(OpError, MemoryError):
    """Memory or disk space is exhausted."""

    error_code = RESOURCE_EXHAUSTED


class FailedPreconditionError(OpError, OSError):
    """The system is not in the required state; for example, a folder to delete is not empty."""

    error_code = FAILED_PRECONDITION


class AbortedError(OpError):
    """The operation was aborted."""

    error_code = ABORTED


class OutOfRangeError(OpError, IndexError):
    """The input is exhausted, or a position is out of range."""

    error_code = OUT_OF_RANGE


class UnimplementedError(OpError, NotImplementedError):
    """The operation is not supported."""

    error_code = UNIMPLEMENTED


class InternalError(OpError, RuntimeError):
    """An internal invariant is broken, which indicates a bug."""

    error_code = INTERNAL


class UnavailableError(OpError, ConnectionError):
    """A service is unavailable."""

    error_code = UNAVAILABLE


class DataLossError(OpError, ValueError):
    """Data are corrupt or truncated."""

    error_code = DATA_LOSS


class UnauthenticatedError(OpError):
    """The caller is not authenticated."""

    error_code = UNAUTHENTICATED
