"""TensorFlow's exceptions; each is one of ours and of Python's as well.

References
----------
tensorflow/python/framework/errors_impl.py (names and codes).
"""

from __future__ import annotations

from typing import Any

from recordmill.compat.tensorflow.core.absent import missing
from recordmill.errors import RecordmillError

__getattr__ = missing(__name__, "errors")

OK, CANCELLED, UNKNOWN, INVALID_ARGUMENT, DEADLINE_EXCEEDED, NOT_FOUND, ALREADY_EXISTS, PERMISSION_DENIED = range(8)
RESOURCE_EXHAUSTED, FAILED_PRECONDITION, ABORTED, OUT_OF_RANGE, UNIMPLEMENTED, INTERNAL, UNAVAILABLE = range(8, 15)
DATA_LOSS, UNAUTHENTICATED = 15, 16


class OpError(RecordmillError):
    """An operation failed; messages are TensorFlow's where people search for them."""

    error_code = UNKNOWN

    def __init__(self, *given: Any, node_def: Any = None, op: Any = None, message: Any = None, **parts: Any) -> None:
        if len(given) > 2:
            node_def, op, message = given[:3]
        elif given:
            message = given[0]
        super().__init__("" if message is None else str(message), **parts)
        self.node_def, self.op = node_def, op


class CancelledError(OpError):
    """The operation was given up."""

    error_code = CANCELLED


class UnknownError(OpError):
    """Nothing more is known."""


class InvalidArgumentError(OpError, ValueError):
    """An argument, or what a record holds, is not what the operation takes."""

    error_code = INVALID_ARGUMENT


class DeadlineExceededError(OpError, TimeoutError):
    """The time for it is over."""

    error_code = DEADLINE_EXCEEDED


class NotFoundError(OpError, FileNotFoundError):
    """A file or folder is not there."""

    error_code = NOT_FOUND


class AlreadyExistsError(OpError, FileExistsError):
    """A file or folder is there already."""

    error_code = ALREADY_EXISTS


class PermissionDeniedError(OpError, PermissionError):
    """Reading or writing is not allowed."""

    error_code = PERMISSION_DENIED


class ResourceExhaustedError(OpError, MemoryError):
    """It would need more memory or space than there is."""

    error_code = RESOURCE_EXHAUSTED


class FailedPreconditionError(OpError, OSError):
    """Something has to be done before, such as emptying a folder."""

    error_code = FAILED_PRECONDITION


class AbortedError(OpError):
    """Something else came in between."""

    error_code = ABORTED


class OutOfRangeError(OpError, IndexError):
    """Past the end."""

    error_code = OUT_OF_RANGE


class UnimplementedError(OpError, NotImplementedError):
    """It is not supported."""

    error_code = UNIMPLEMENTED


class InternalError(OpError, RuntimeError):
    """Something that should hold does not."""

    error_code = INTERNAL


class UnavailableError(OpError, ConnectionError):
    """A service does not answer."""

    error_code = UNAVAILABLE


class DataLossError(OpError, ValueError):
    """Data are damaged or cut."""

    error_code = DATA_LOSS


class UnauthenticatedError(OpError):
    """Nobody said who asks."""

    error_code = UNAUTHENTICATED
