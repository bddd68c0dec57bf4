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
    """Error of a canceled operation."""

    error_code = CANCELLED


class UnknownError(OpError):
    """Error with an unknown cause."""


class InvalidArgumentError(OpError, ValueError):
    """Error for an invalid argument, or for a record with invalid content."""

    error_code = INVALID_ARGUMENT


class DeadlineExceededError(OpError, TimeoutError):
    """Error for an operation that exceeded its deadline."""

    error_code = DEADLINE_EXCEEDED


class NotFoundError(OpError, FileNotFoundError):
    """Error for a file or folder that does not exist."""

    error_code = NOT_FOUND


class AlreadyExistsError(OpError, FileExistsError):
    """Error for a file or folder that already exists."""

    error_code = ALREADY_EXISTS


class PermissionDeniedError(OpError, PermissionError):
    """Error for missing permission to read or write a file."""

    error_code = PERMISSION_DENIED


class ResourceExhaustedError(OpError, MemoryError):
    """Error for exhausted memory or disk space."""

    error_code = RESOURCE_EXHAUSTED


class FailedPreconditionError(OpError, OSError):
    """Error for an operation whose precondition is not met; for example, a folder to delete is not empty."""

    error_code = FAILED_PRECONDITION


class AbortedError(OpError):
    """Error for an operation that was aborted, typically because of a concurrent operation."""

    error_code = ABORTED


class OutOfRangeError(OpError, IndexError):
    """Error for an exhausted input, or for a position that is out of range."""

    error_code = OUT_OF_RANGE


class UnimplementedError(OpError, NotImplementedError):
    """Error for an operation that is not supported."""

    error_code = UNIMPLEMENTED


class InternalError(OpError, RuntimeError):
    """Error for a broken internal invariant, which indicates a bug."""

    error_code = INTERNAL


class UnavailableError(OpError, ConnectionError):
    """Error for a service that is unavailable."""

    error_code = UNAVAILABLE


class DataLossError(OpError, ValueError):
    """Error for corrupt or truncated data."""

    error_code = DATA_LOSS


class UnauthenticatedError(OpError):
    """Error for a request without valid credentials."""

    error_code = UNAUTHENTICATED
