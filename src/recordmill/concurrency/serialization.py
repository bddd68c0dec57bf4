"""Serialize results and errors to send them from process to process.

A result is a pickle stream followed by large buffers, which the receiver uses without a copy::

    8 bytes         number of parts, n
    8 × n bytes     length of each part
    parts           the pickle stream, then the buffers that it refers to; each starts at a multiple of 64

All numbers are little-endian. Arrays become views of the buffers (pickle protocol 5, PEP 574).
"""

from __future__ import annotations

import os
import pickle
import struct
import traceback
from dataclasses import dataclass
from typing import Any

from recordmill.allocator import ALIGNMENT
from recordmill.errors import WorkerError

_MIN_BUFFER_BYTES = 4096  # Buffers of fewer bytes are stored in the pickle stream.
_MAX_ERRORS = 16
_MAX_TRACEBACK_CHARS = 20_000


class PickleParts:
    """A pickled value: the pickle stream, and the large buffers that are stored outside of it.

    Parameters
    ----------
    value : object
        Anything that can be pickled.

    Attributes
    ----------
    nbytes : int
        Size of all parts as they are written.
    """

    def __init__(self, value: Any) -> None:
        self._parts: list[memoryview] = []
        stream = pickle.dumps(value, 5, buffer_callback=self._separate_large_buffer)
        self._parts.insert(0, memoryview(stream))
        lengths = [part.nbytes for part in self._parts]
        self._head = struct.pack(f"<{len(lengths) + 1}Q", len(lengths), *lengths)
        self._offsets, self.nbytes = _compute_part_offsets(lengths)

    def _separate_large_buffer(self, buffer: pickle.PickleBuffer) -> bool:
        """Append a large buffer to `_parts`. For a small buffer, return True, so that pickle stores it inline."""
        raw = buffer.raw()
        if raw.nbytes < _MIN_BUFFER_BYTES:
            return True
        self._parts.append(raw)
        return False

    def tobytes(self) -> bytearray:
        """Return the header, the pickle stream and the buffers in one bytearray."""
        data = bytearray(self.nbytes)
        for offset, part in zip((0, *self._offsets), (self._head, *self._parts), strict=True):
            data[offset : offset + len(part)] = part
        return data

    def write(self, file: int, start: int = 0) -> None:
        """Write the header, the pickle stream and the buffers to a file, starting at offset `start`."""
        for offset, part in zip((0, *self._offsets), (memoryview(self._head), *self._parts), strict=True):
            done = 0
            while done < part.nbytes:
                done += os.pwrite(file, part[done:], start + offset + done)


def load_pickle_parts(data: memoryview) -> Any:
    """Unpickle bytes that `PickleParts` wrote. Large arrays become views of `data`, which are writable if `data` is."""
    (count,) = struct.unpack_from("<Q", data)
    lengths = struct.unpack_from(f"<{count}Q", data, 8)
    offsets, _ = _compute_part_offsets(list(lengths))
    parts = [data[offset : offset + length] for offset, length in zip(offsets, lengths, strict=True)]
    return pickle.loads(parts[0], buffers=parts[1:])  # noqa: S301 (written by our own worker)


def _compute_part_offsets(lengths: list[int]) -> tuple[list[int], int]:
    """Return the aligned offset of the pickle stream and of each buffer, and the total size in bytes."""
    offsets, end = [], 8 * (len(lengths) + 1)
    for length in lengths:
        offsets.append(-(-end // ALIGNMENT) * ALIGNMENT)
        end = offsets[-1] + length
    return offsets, end


@dataclass(frozen=True, slots=True)
class ErrorChain:
    """An error with its causes, notes and traceback, in a form that can be pickled.

    Parameters
    ----------
    errors : tuple of BaseException
        The error, followed by the chain of its causes and contexts.
    notes : tuple of tuple of str
        Notes of each error.
    are_causes : tuple of bool
        Whether each error except the last was raised ``from`` the next error.
    """

    errors: tuple[BaseException, ...]
    notes: tuple[tuple[str, ...], ...]
    are_causes: tuple[bool, ...]

    @classmethod
    def from_exception(cls, error: BaseException) -> ErrorChain:
        """Collect an error and its causes and contexts. The traceback of the error is added to its notes."""
        text = "".join(traceback.format_exception(error))
        if len(text) > _MAX_TRACEBACK_CHARS:
            text = f"{text[: _MAX_TRACEBACK_CHARS // 2]}\n…\n{text[-_MAX_TRACEBACK_CHARS // 2 :]}"
        errors = [error]
        are_causes = []
        while (
            len(errors) < _MAX_ERRORS
            and (origin := _find_cause_or_context(errors[-1])) is not None
            and origin not in errors
        ):
            are_causes.append(errors[-1].__cause__ is not None)
            errors.append(origin)
        notes = [tuple(map(str, getattr(one, "__notes__", ()))) for one in errors]
        notes[0] += (f"in worker process {os.getpid()}:\n{text.rstrip()}",)
        return cls(tuple(map(_make_picklable, errors)), tuple(notes), tuple(are_causes))

    def restore_error(self) -> BaseException:
        """Set the notes, causes and contexts of all errors in the chain, and return the first error."""
        for error, notes in zip(self.errors, self.notes, strict=True):
            error.__notes__ = list(notes)
        for error, origin, is_cause in zip(self.errors[:-1], self.errors[1:], self.are_causes, strict=True):
            if is_cause:
                error.__cause__ = origin
            else:
                error.__context__ = origin
        return self.errors[0]


def _find_cause_or_context(error: BaseException) -> BaseException | None:
    return error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def _make_picklable(error: BaseException) -> BaseException:
    """Return the error if it can be pickled and unpickled, otherwise a `WorkerError` with the text of the error."""
    try:
        copied = pickle.loads(pickle.dumps(error, 5))  # noqa: S301 (our own bytes)
        if type(copied) is type(error):
            return error
    except Exception:  # noqa: BLE001, S110 (a foreign class may raise anything when it is pickled)
        pass
    try:
        text = str(error)
    except Exception:  # noqa: BLE001 (a foreign class may raise anything)
        text = "?"
    kind = type(error).__name__
    return WorkerError(f"{kind}: {text}", hint=f"{kind} cannot be pickled, so this error replaces it")
