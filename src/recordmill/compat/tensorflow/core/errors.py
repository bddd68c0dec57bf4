"""TensorFlow's exceptions; each is one of ours and of Python's as well.

References
----------
tensorflow/python/framework/errors_impl.py (names and codes).
"""

from __future__ import annotations

from recordmill.errors import RecordmillError


class OpError(RecordmillError):
    """An operation failed; messages are TensorFlow's where people search for them."""

    error_code = 2
    op = None
    node_def = None


class CancelledError(OpError):
    """The operation was given up."""

    error_code = 1


class UnknownError(OpError):
    """Nothing more is known."""


class InvalidArgumentError(OpError, ValueError):
    """An argument, or what a record holds, is not what the operation takes."""

    error_code = 3


class DeadlineExceededError(OpError, TimeoutError):
    """The time for it is over."""

    error_code = 4


class NotFoundError(OpError, FileNotFoundError):
    """A file or folder is not there."""

    error_code = 5


class AlreadyExistsError(OpError, FileExistsError):
    """A file or folder is there already."""

    error_code = 6


class PermissionDeniedError(OpError, PermissionError):
    """Reading or writing is not allowed."""

    error_code = 7


class ResourceExhaustedError(OpError, MemoryError):
    """It would need more memory or space than there is."""

    error_code = 8


class FailedPreconditionError(OpError, OSError):
    """Something has to be done before, such as emptying a folder."""

    error_code = 9


class AbortedError(OpError):
    """Something else came in between."""

    error_code = 10


class OutOfRangeError(OpError, IndexError):
    """Past the end."""

    error_code = 11


class UnimplementedError(OpError, NotImplementedError):
    """It is not supported."""

    error_code = 12


class InternalError(OpError, RuntimeError):
    """Something that should hold does not."""

    error_code = 13


class UnavailableError(OpError, ConnectionError):
    """A service does not answer."""

    error_code = 14


class DataLossError(OpError, ValueError):
    """Data are damaged or cut."""

    error_code = 15
