"""Sources whose bytes a Python function returns: short reads, early ends, exceptions, threads."""

from __future__ import annotations

import errno
import gzip
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from recordmill import _core
from recordmill.testing.messages import encode_example

KIND = _core.FrameKind("tfrecord")
PLAN = _core.Plan(
    _core.PayloadKind.EXAMPLE, [(b"id", False, "int64", 1, "error"), (b"text", False, "bytes", 1, "error")]
)
# Enough records for several threads of `read_examples`, which share work of more than 2 MiB, and for several batches.
NUM_RECORDS, BATCH_LEN = 24, 4
PAYLOADS = [encode_example({"id": ("int64", [n]), "text": ("bytes", [bytes([n]) * 130_000])}) for n in range(24)]
_DATA, LENGTHS = (np.asarray(block) for block in _core.frame_each(tuple(PAYLOADS), KIND)[:2])
SHARD = _DATA.tobytes()
OFFSETS = np.cumsum(LENGTHS) - LENGTHS
STORED = {None: SHARD, "gzip": gzip.compress(SHARD, 1)}

pytestmark = pytest.mark.deep
Reader = Callable[[int, int], Any]


class Stop(BaseException):
    """An exception that no code handles."""


def make_reader(data: bytes, before: Callable[[int], None] = lambda number: None) -> Reader:
    """Return a function that reads from `data`, and first calls `before` with the number of the call."""
    numbers = iter(range(1 << 30))

    def read(offset: int, length: int) -> bytes:
        before(next(numbers))
        return data[offset : offset + length]

    return read


def open_reader(read: Reader, compression: str | None = None) -> _core.Source:
    return _core.Source.from_reader(read, len(STORED[compression]), compression=compression, spacing=1 << 18)


def read_bytes(source: _core.Source, offset: int, length: int) -> bytes:
    return bytes(memoryview(source.read(offset, length)))


def read_stream(source: _core.Source, threads: int) -> list[bytes]:
    stream = _core.BatchStream(source, KIND, BATCH_LEN, threads=threads)
    return [row for data, splits in stream for row in _core.split(data, splits)]


def read_examples(source: _core.Source) -> list[bytes]:
    frames = ([source], np.zeros(NUM_RECORDS, np.int64), KIND, OFFSETS, LENGTHS, None)
    return [bytes(text) for _, columns in _core.read_examples(frames, PLAN) for text in columns[1][0]]


def read_columns(source: _core.Source, order: slice = slice(None)) -> list[int]:
    frames = ([source], np.zeros(NUM_RECORDS, np.int64), KIND, OFFSETS[order].copy(), LENGTHS[order].copy(), None)
    return np.asarray(_core.read_columns(frames, PLAN)[0][0]).tolist()


def read_singles(source: _core.Source) -> list[bytes]:
    """Read with `read_singles`, and the records that it leaves to `fetch`."""
    found, _ = _core.read_singles(source, KIND, 0, NUM_RECORDS)
    rest = _core.fetch(source, KIND, OFFSETS[len(found) :].copy(), LENGTHS[len(found) :].copy())
    return [payload for _, payload in found] + _core.split(*rest)


TEXTS = [bytes([n]) * 130_000 for n in range(NUM_RECORDS)]
# Calls of the native module that read a whole source, with their results.
CALLS: dict[str, tuple[Callable[[_core.Source], Any], Any]] = {
    "read": (lambda source: read_bytes(source, 0, len(SHARD)), SHARD),
    "scan": (lambda source: np.asarray(_core.scan(source, KIND, verify=True)[0]).tolist(), OFFSETS.tolist()),
    "verify": (lambda source: _core.verify(source, KIND, _core.PayloadKind.EXAMPLE)[:3], (NUM_RECORDS, [], 0)),
    "fetch": (lambda source: _core.split(*_core.fetch(source, KIND, OFFSETS, LENGTHS)), PAYLOADS),
    "read_singles": (read_singles, PAYLOADS),
    "stream": (lambda source: read_stream(source, 0), PAYLOADS),
    "stream in threads": (lambda source: read_stream(source, 3), PAYLOADS),
    "read_columns": (read_columns, list(range(NUM_RECORDS))),
    "read_columns in reverse": (lambda s: read_columns(s, slice(None, None, -1)), list(range(NUM_RECORDS))[::-1]),
    "read_examples": (read_examples, TEXTS),
}
call_names = pytest.mark.parametrize("name", CALLS)
compressions = pytest.mark.parametrize("compression", STORED)


def raise_in_read(number: int, error: BaseException) -> Callable[[int], None]:
    """Return a function that raises an error in the read with this number."""

    def raise_error(current: int) -> None:
        if current == number:
            raise error

    return raise_error


def attempt(name: str, source: _core.Source) -> tuple[Any, BaseException | None]:
    """Return the result of a call of the native module, and None; or None, and the exception that it raised."""
    try:
        return CALLS[name][0](source), None
    except BaseException as error:  # noqa: BLE001 (The test checks it.)
        return None, error


def count_calls(name: str, compression: str | None) -> int:
    """Return the number of reads by which a call of the native module reads the whole source."""
    numbers: list[int] = []
    CALLS[name][0](open_reader(make_reader(STORED[compression], numbers.append), compression))
    return len(numbers)


@call_names
@compressions
def test_reader_source_returns_right_data_despite_short_reads(name: str, compression: str | None) -> None:
    stored = STORED[compression]

    def read(offset: int, length: int) -> bytes:
        return stored[offset : offset + 1 + offset % 30_000][:length]

    call, expected = CALLS[name]
    assert call(open_reader(read, compression)) == expected


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview, lambda data: np.frombuffer(data, np.uint8)])
def test_reader_may_return_any_buffer_of_bytes(kind: Callable[[bytes], Any]) -> None:
    source = _core.Source.from_reader(lambda offset, length: kind(b"0123456789"[offset : offset + length]), 10)
    assert source.num_bytes == source.num_stored_bytes == 10
    for offset, length in [(0, 10), (3, 4), (8, 100), (10, 1), (1 << 62, 1)]:
        assert read_bytes(source, offset, length) == b"0123456789"[offset : offset + length]


def test_reader_is_called_with_offset_and_length_inside_source() -> None:
    calls = []

    def read(offset: int, length: int) -> bytes:
        calls.append((offset, length))
        return bytes(min(length, 3))

    source = _core.Source.from_reader(read, 10)
    source.read(4, 100)
    joined = _core.Source.join([source, source])
    joined.read(9, 2)
    assert calls == [(4, 6), (7, 3), (9, 1), (0, 1)]


@call_names
@compressions
def test_early_end_raises_core_changed(name: str, compression: str | None) -> None:
    stored, call = STORED[compression], CALLS[name][0]
    message = rf"^it had {len(stored)} bytes when it was opened, but has no data at offset \d+ now$"
    for end in (0, 1, len(stored) // 2, len(stored) - 1):
        with pytest.raises(_core.CoreChanged, match=message) as caught:
            call(open_reader(make_reader(stored[:end]), compression))
        assert int(caught.value.args[0].split()[-2]) >= end


@pytest.mark.parametrize(
    "result, error, message",
    [
        (bytes(11), ValueError, "read must return at most the requested 10 bytes, got 11"),
        (None, TypeError, "bytes-like"),
        ("text", TypeError, "bytes-like"),
        (np.zeros(2, np.int64), BufferError, "buffer contents are not compatible with u8"),
        (np.zeros(20, np.uint8)[::2], ValueError, "contiguous"),
    ],
)
def test_wrong_result_of_reader_raises_error(result: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        _core.Source.from_reader(lambda offset, length: result, 10).read(0, 10)


@pytest.mark.parametrize(
    "arguments, error",
    [((None, 1), TypeError), ((bytes, -1), OverflowError), ((bytes, 1 << 63), ValueError), ((bytes, "1"), TypeError)],
)
def test_from_reader_rejects_wrong_arguments(arguments: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        _core.Source.from_reader(*arguments)
    with pytest.raises(ValueError, match="compression must be gzip or zlib"):
        _core.Source.from_reader(bytes, 1, compression="bzip2")


@call_names
@compressions
@pytest.mark.parametrize("error", [Stop(), ZeroDivisionError("text"), MemoryError("text"), RuntimeError()], ids=repr)
def test_exception_of_any_read_is_raised_unchanged(name: str, compression: str | None, error: BaseException) -> None:
    expected = CALLS[name][1]
    for number in range(count_calls(name, compression)):
        source = open_reader(make_reader(STORED[compression], raise_in_read(number, error)), compression)
        result, caught = attempt(name, source)
        # Threads may need fewer reads, or read ahead what is not needed.
        is_unneeded = name == "stream in threads" and result == expected
        assert caught is error or is_unneeded
        assert attempt(name, source) == (expected, None), "a later call is not affected"


@call_names
@compressions
def test_os_error_of_any_read_is_raised_or_read_again(name: str, compression: str | None) -> None:
    errors, expected = [], CALLS[name][1]
    for number in range(count_calls(name, compression)):
        error = OSError(errno.EIO, "the cable is unplugged")
        result, caught = attempt(
            name, open_reader(make_reader(STORED[compression], raise_in_read(number, error)), compression)
        )
        assert caught is error or result == expected
        errors += [] if caught is None else [caught]
    assert errors
    for caught in errors:
        assert (caught.errno, caught.strerror, caught.filename) == (errno.EIO, "the cable is unplugged", None)


def test_os_error_and_early_end_have_ordinal_of_record() -> None:
    frames = ([_core.Source.from_bytes(SHARD), None], np.arange(NUM_RECORDS) // 12, KIND, OFFSETS, LENGTHS, None)
    for error in (OSError(errno.EIO, "text"), None):

        def read(offset: int, length: int, error: OSError | None = error) -> bytes:
            if error is not None:
                raise error
            return b""

        frames[0][1] = open_reader(read)
        with pytest.raises((OSError, _core.CoreChanged)) as caught:
            _core.read_columns(frames, PLAN)
        assert caught.value.ordinal == 12


@call_names
@compressions
def test_interrupted_read_is_repeated(name: str, compression: str | None) -> None:
    def interrupt(number: int) -> None:
        if number % 2 == 0:
            raise InterruptedError

    call, expected = CALLS[name]
    assert call(open_reader(make_reader(STORED[compression], interrupt), compression)) == expected


@call_names
@pytest.mark.parametrize("is_interrupted", [False, True])
def test_signal_during_read_raises_keyboard_interrupt(name: str, is_interrupted: bool) -> None:
    """A read is not repeated if the handler of the signal that interrupted it raises an exception."""

    def send_signal(number: int) -> None:
        if number == 0:
            os.kill(os.getpid(), signal.SIGINT)
            if is_interrupted:
                raise InterruptedError

    _, caught = attempt(name, open_reader(make_reader(SHARD, send_signal)))
    assert isinstance(caught, KeyboardInterrupt)


@compressions
def test_python_threads_read_one_source_at_the_same_time(compression: str | None) -> None:
    source, results = open_reader(make_reader(STORED[compression]), compression), {}

    def run(name: str) -> None:
        results[name] = CALLS[name][0](source)

    threads = [threading.Thread(target=run, args=[name]) for name in CALLS]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {name: expected for name, (_, expected) in CALLS.items()}


@pytest.mark.parametrize("close", ["close", "drop"])
def test_stream_ends_its_threads_while_they_read(close: str) -> None:
    reading: list[int] = []
    is_reading = threading.Event()

    def read(offset: int, length: int) -> bytes:
        reading.append(offset)
        is_reading.set()
        time.sleep(0.05)
        reading.remove(offset)
        return SHARD[offset : offset + length]

    stream = _core.BatchStream(open_reader(read), KIND, 1, threads=4)
    next(stream)
    is_reading.clear()
    next(stream)
    assert is_reading.wait(60)
    if close == "close":
        stream.close()
    del stream
    assert not reading


FORK = """
child = os.fork()
if child:
    assert os.waitpid(child, 0)[1] == 0
"""


@pytest.mark.parametrize("end", ["", "stream.close()", "del stream", "atexit.register(next, stream)", FORK])
def test_interpreter_exits_while_threads_read(end: str) -> None:
    script = """
import atexit, os, time, warnings
from recordmill import _core
from recordmill.testing import tfrecord

warnings.filterwarnings("ignore", ".*fork", DeprecationWarning)
shard = tfrecord.frame(bytes(20_000)) * 100

def read(offset, length):
    time.sleep(0.02)
    return shard[offset : offset + length]

stream = _core.BatchStream(_core.Source.from_reader(read, len(shard)), _core.FrameKind("tfrecord"), 1, threads=4)
next(stream)
"""
    command = [sys.executable, "-c", script + end]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
