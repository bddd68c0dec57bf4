"""Values travel between processes unchanged, in memory that is not refilled while a view of it is left."""

from __future__ import annotations

import os
import pickle
import random
import socket
import weakref
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from recordmill.concurrency.messages import Message, MessageKind, receive_message, send_message
from recordmill.concurrency.serialization import ErrorChain, PickleParts, load_pickle_parts
from recordmill.concurrency.shared_memory import MAX_SEGMENTS, NO_SLOT, SegmentPool, SegmentViews
from tests.concurrency.helpers import are_equal, build_mixed_batch, descriptors
from tests.concurrency.tasks import HeavyError, UnpicklableError

ARRAYS = st.builds(
    lambda shape, dtype, order: np.asarray(np.arange(np.prod(shape)).reshape(shape), dtype, order=order),
    st.lists(st.sampled_from([0, 1, 3, 90]), max_size=2),
    st.sampled_from([np.uint8, np.float32, np.int64, np.dtype(">i2"), np.complex64, bool]),
    st.sampled_from("CF"),
)
SCALARS = st.none() | st.integers() | st.text() | st.binary(max_size=20_000) | st.just(np.float32(1.5))
VALUES = st.recursive(
    ARRAYS | SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=8,
)


@given(VALUES)
def test_pickle_parts_round_trip(value: Any) -> None:
    parts = PickleParts(value)
    serialized = parts.tobytes()
    assert len(serialized) == parts.nbytes
    assert are_equal(load_pickle_parts(memoryview(serialized)), value)
    file = os.memfd_create("test")
    try:
        parts.write(file)
        assert os.pread(file, parts.nbytes + 1, 0) == serialized.rstrip(b"\0") + bytes(
            len(serialized) - len(serialized.rstrip(b"\0"))
        )
    finally:
        os.close(file)


def test_large_arrays_become_aligned_writable_views() -> None:
    segment = np.zeros(9_000_000, np.uint8)
    start = -segment.ctypes.data % 64
    value = build_mixed_batch(3) | {"fixed": np.arange(9_000)}
    value["fixed"].flags.writeable = False
    parts = PickleParts(value)
    segment[start : start + parts.nbytes] = parts.tobytes()
    again = load_pickle_parts(segment.data[start : start + parts.nbytes])
    assert are_equal(again, value)
    for name in ("image", "large", "fortran"):
        assert np.shares_memory(again[name], segment)
        assert again[name].flags.writeable and again[name].ctypes.data % 64 == 0
    assert not again["fixed"].flags.writeable


class Pair:
    """The segments of a worker and the consumer's views of them, in one process."""

    def __init__(self) -> None:
        self.segments, self.views = SegmentPool(), SegmentViews()
        self.consumer_end, self.worker_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)

    def transfer(self, value: Any) -> tuple[Any, int]:
        while self.views.released:
            slot, reusable = self.views.released.popleft()
            self.segments.release(slot, reusable=reusable)
            if not reusable:
                self.views.unmap(slot)
        parts = PickleParts(value)
        segment = self.segments.acquire(parts.nbytes)
        parts.write(segment.file)
        send_message(self.worker_end, Message(MessageKind.RESULT), segment.file if segment.is_new else None)
        message = receive_message(self.consumer_end)
        assert message is not None
        root = self.views.view_segment(segment.slot, parts.nbytes, message.file)
        if segment.slot == NO_SLOT:
            os.close(segment.file)
        return load_pickle_parts(root.data), segment.slot

    def close(self) -> None:
        for file, _ in self.segments._files.values():
            os.close(file)
        self.consumer_end.close()
        self.worker_end.close()


def test_file_of_a_message_is_closed_when_it_is_freed() -> None:
    pair = Pair()
    before = descriptors()
    with open(os.memfd_create("test"), "wb") as file:
        send_message(pair.worker_end, Message(MessageKind.RESULT, 3, data=b"here"), file.fileno())
    message = receive_message(pair.consumer_end)
    assert message is not None and message.file is not None and (message.task, message.data) == (3, b"here")
    assert os.readlink(f"/proc/self/fd/{message.file.fileno()}").startswith("/memfd:test")
    assert not os.get_inheritable(message.file.fileno())
    assert descriptors() == before + 1
    del message
    assert descriptors() == before
    with pytest.raises(BlockingIOError):
        receive_message(pair.consumer_end)
    pair.worker_end.close()
    assert receive_message(pair.consumer_end) is None
    pair.close()


WAYS = [
    lambda array: array,
    lambda array: array[7:19],
    lambda array: memoryview(array)[1:3],
    lambda array: array.T[::5],
]


@given(st.integers(0, 1 << 32))
def test_arrays_kept_in_any_way_never_change(seed: int) -> None:
    before, rng, pair = descriptors(), random.Random(seed), Pair()
    arrays: list[tuple[Any, int]] = []
    for number in range(25):
        element, _ = pair.transfer({"a": np.full(rng.randrange(2000, 90_000), number), "b": b"x" * 5000})
        arrays.append((rng.choice(WAYS)(element["a"]), number))
        del element
        rng.shuffle(arrays)
        del arrays[rng.randrange(1, 12) :]
        for view, expected in arrays:
            assert (np.asarray(view) == expected).all()
        assert descriptors() - before <= 2 + 2 * MAX_SEGMENTS
    arrays.clear()
    pair.close()
    del pair, view
    assert descriptors() == before


def test_segment_without_views_is_reused() -> None:
    pair, used = Pair(), set[int]()
    for number in range(20):
        element, slot = pair.transfer(np.full(100_000, number))
        used.add(slot)
        assert set(element.tolist()) == {number}
        del element
    assert used == {0}
    arrays = [pair.transfer(np.full(100_000, number)) for number in range(MAX_SEGMENTS + 3)]
    assert [slot for _, slot in arrays] == [*range(MAX_SEGMENTS), NO_SLOT, NO_SLOT, NO_SLOT]
    assert [int(array[-1]) for array, _ in arrays] == list(range(MAX_SEGMENTS + 3))
    assert all(array.ctypes.data % 64 == 0 for array, _ in (pair.transfer(np.zeros((10, 7000))) for _ in range(3)))
    pair.close()


def test_segment_that_is_too_small_is_replaced() -> None:
    pair = Pair()
    for power in range(12, 22):
        element, slot = pair.transfer(np.full(1 << power, power, np.uint8))
        assert set(element.tolist()) == {power}
        assert slot < MAX_SEGMENTS
        del element
    assert len(pair.segments._files) <= MAX_SEGMENTS
    pair.close()


def test_arrays_that_a_forked_process_may_read_are_not_overwritten() -> None:
    pair = Pair()
    first, slot = pair.transfer(np.full(100_000, 1))
    ask, tell = os.pipe()
    child = os.fork()
    if child == 0:
        os.read(ask, 1)
        os._exit(0 if set(first.tolist()) == {1} else 3)
    address = first.ctypes.data
    del first
    others = [pair.transfer(np.full(100_000, 2))[0] for _ in range(MAX_SEGMENTS + 1)]
    assert slot == 0 and address
    os.write(tell, b"1")
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert all(set(one.tolist()) == {2} for one in others)
    os.close(ask)
    os.close(tell)
    pair.close()


def raised(error: BaseException, cause: BaseException | None = None) -> BaseException:
    try:
        raise error from cause
    except BaseException as caught:  # noqa: BLE001 (any)
        return caught


def test_error_chain_keeps_causes_notes_and_attributes() -> None:
    cause = raised(KeyError("inner"), raised(OSError(2, "innermost")))
    error = HeavyError(np.arange(200_000))
    error.add_note("a note")
    failure = ErrorChain.from_exception(raised(error, cause))
    again = load_pickle_parts(memoryview(PickleParts(failure).tobytes())).restore_error()
    assert type(again) is HeavyError and np.array_equal(again.payload, np.arange(200_000))
    assert again.__notes__[0] == "a note" and "innermost" in again.__notes__[1]
    assert type(again.__cause__) is KeyError and type(again.__cause__.__cause__) is FileNotFoundError
    pickle.loads(pickle.dumps(ErrorChain.from_exception(raised(UnpicklableError(1, 2))))).restore_error()


def test_error_chain_ends_in_a_cycle() -> None:
    first, second = ValueError(1), ValueError(2)
    first.__context__, second.__context__ = second, first
    again = ErrorChain.from_exception(first).restore_error()
    assert again.__context__ is not None and str(again.__context__) == "2"


@pytest.mark.parametrize("keep", ["array", "view", "memoryview"])
def test_segment_is_not_released_while_a_view_lives(keep: str) -> None:
    pair = Pair()
    element, slot = pair.transfer(np.arange(10_000))
    references = {"array": element, "view": element[3:5].reshape(1, 2), "memoryview": memoryview(element)}[keep]
    seen = weakref.ref(element)
    del element
    assert not pair.views.released and (keep == "view" or seen() is not None)
    del references
    assert list(pair.views.released) == [(slot, True)]
    pair.views.released.clear()
    pair.close()
