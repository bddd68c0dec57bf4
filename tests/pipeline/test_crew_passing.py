"""Elements between processes: whole and equal, in memory that is never filled again while somebody looks at it."""

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

from recordmill.pipeline.crew.failures import packed
from recordmill.pipeline.crew.messages import Kind, Message, heard, tell
from recordmill.pipeline.crew.passing import Parts, rebuild
from recordmill.pipeline.crew.segments import MAX_SLOTS, NO_SLOT, Slots, Views
from tests.pipeline.crews import batch, descriptors, same
from tests.pipeline.made import HeavyError, UnpicklableError

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
def test_element_when_taken_apart_then_is_built_again(value: Any) -> None:
    parts = Parts(value)
    whole = parts.tobytes()
    assert len(whole) == parts.nbytes
    assert same(rebuild(memoryview(whole)), value)
    file = os.memfd_create("test")
    try:
        parts.write(file)
        assert os.pread(file, parts.nbytes + 1, 0) == whole.rstrip(b"\0") + bytes(len(whole) - len(whole.rstrip(b"\0")))
    finally:
        os.close(file)


def test_large_arrays_when_built_again_then_are_aligned_views_that_may_be_written_to() -> None:
    lent = np.zeros(9_000_000, np.uint8)
    start = -lent.ctypes.data % 64
    value = batch(3) | {"fixed": np.arange(9_000)}
    value["fixed"].flags.writeable = False
    parts = Parts(value)
    lent[start : start + parts.nbytes] = parts.tobytes()
    again = rebuild(lent.data[start : start + parts.nbytes])
    assert same(again, value)
    for name in ("image", "large", "fortran"):
        assert np.shares_memory(again[name], lent)
        assert again[name].flags.writeable and again[name].ctypes.data % 64 == 0
    assert not again["fixed"].flags.writeable


class Pair:
    """A worker's slots and the consumer's views of them, in one process."""

    def __init__(self) -> None:
        self.slots, self.views = Slots(), Views()
        self.ours, self.theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)

    def pass_on(self, value: Any) -> tuple[Any, int]:
        while self.views.returned:
            slot, again = self.views.returned.popleft()
            self.slots.give_back(slot, again=again)
            if not again:
                self.views.forget(slot)
        parts = Parts(value)
        lent = self.slots.lend(parts.nbytes)
        parts.write(lent.file)
        tell(self.theirs, Message(Kind.MADE), lent.file if lent.is_new else None)
        message = heard(self.ours)
        assert message is not None
        root = self.views.receive(lent.slot, parts.nbytes, message.file)
        if lent.slot == NO_SLOT:
            os.close(lent.file)
        return rebuild(root.data), lent.slot

    def close(self) -> None:
        for file, _ in self.slots._files.values():
            os.close(file)
        self.ours.close()
        self.theirs.close()


def test_file_of_a_message_when_nobody_has_it_then_is_closed() -> None:
    pair = Pair()
    before = descriptors()
    with open(os.memfd_create("test"), "wb") as file:
        tell(pair.theirs, Message(Kind.MADE, 3, inside=b"here"), file.fileno())
    message = heard(pair.ours)
    assert message is not None and message.file is not None and (message.place, message.inside) == (3, b"here")
    assert os.readlink(f"/proc/self/fd/{message.file.fileno()}").startswith("/memfd:test")
    assert not os.get_inheritable(message.file.fileno())
    assert descriptors() == before + 1
    del message
    assert descriptors() == before
    with pytest.raises(BlockingIOError):
        heard(pair.ours)
    pair.theirs.close()
    assert heard(pair.ours) is None
    pair.close()


WAYS = [
    lambda array: array,
    lambda array: array[7:19],
    lambda array: memoryview(array)[1:3],
    lambda array: array.T[::5],
]


@given(st.integers(0, 1 << 32))
def test_arrays_when_kept_in_any_way_then_never_change(seed: int) -> None:
    before, choose, pair = descriptors(), random.Random(seed), Pair()
    held: list[tuple[Any, int]] = []
    for number in range(25):
        element, _ = pair.pass_on({"a": np.full(choose.randrange(2000, 90_000), number), "b": b"x" * 5000})
        held.append((choose.choice(WAYS)(element["a"]), number))
        del element
        choose.shuffle(held)
        del held[choose.randrange(1, 12) :]
        for view, expected in held:
            assert (np.asarray(view) == expected).all()
        assert descriptors() - before <= 2 + 2 * MAX_SLOTS
    held.clear()
    pair.close()
    del pair, view
    assert descriptors() == before


def test_memory_when_let_go_then_is_filled_again() -> None:
    pair, used = Pair(), set[int]()
    for number in range(20):
        element, slot = pair.pass_on(np.full(100_000, number))
        used.add(slot)
        assert set(element.tolist()) == {number}
        del element
    assert used == {0}
    held = [pair.pass_on(np.full(100_000, number)) for number in range(MAX_SLOTS + 3)]
    assert [slot for _, slot in held] == [*range(MAX_SLOTS), NO_SLOT, NO_SLOT, NO_SLOT]
    assert [int(array[-1]) for array, _ in held] == list(range(MAX_SLOTS + 3))
    assert all(array.ctypes.data % 64 == 0 for array, _ in (pair.pass_on(np.zeros((10, 7000))) for _ in range(3)))
    pair.close()


def test_memory_when_too_small_then_is_replaced() -> None:
    pair = Pair()
    for power in range(12, 22):
        element, slot = pair.pass_on(np.full(1 << power, power, np.uint8))
        assert set(element.tolist()) == {power}
        assert slot < MAX_SLOTS
        del element
    assert len(pair.slots._files) <= MAX_SLOTS
    pair.close()


def test_arrays_when_a_copy_of_the_process_may_look_at_them_then_are_not_overwritten() -> None:
    pair = Pair()
    first, slot = pair.pass_on(np.full(100_000, 1))
    ask, tell = os.pipe()
    child = os.fork()
    if child == 0:
        os.read(ask, 1)
        os._exit(0 if set(first.tolist()) == {1} else 3)
    address = first.ctypes.data
    del first
    others = [pair.pass_on(np.full(100_000, 2))[0] for _ in range(MAX_SLOTS + 1)]
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


def test_errors_when_packed_then_keep_causes_notes_and_payload() -> None:
    cause = raised(KeyError("inner"), raised(OSError(2, "innermost")))
    error = HeavyError(np.arange(200_000))
    error.add_note("a note")
    failure = packed(raised(error, cause))
    again = rebuild(memoryview(Parts(failure).tobytes())).error()
    assert type(again) is HeavyError and np.array_equal(again.payload, np.arange(200_000))
    assert again.__notes__[0] == "a note" and "innermost" in again.__notes__[1]
    assert type(again.__cause__) is KeyError and type(again.__cause__.__cause__) is FileNotFoundError
    pickle.loads(pickle.dumps(packed(raised(UnpicklableError(1, 2))))).error()


def test_errors_when_they_go_round_in_circles_then_end() -> None:
    first, second = ValueError(1), ValueError(2)
    first.__context__, second.__context__ = second, first
    again = packed(first).error()
    assert again.__context__ is not None and str(again.__context__) == "2"


@pytest.mark.parametrize("keep", ["array", "view", "memoryview"])
def test_memory_when_any_view_lives_then_is_not_given_back(keep: str) -> None:
    pair = Pair()
    element, slot = pair.pass_on(np.arange(10_000))
    kept = {"array": element, "view": element[3:5].reshape(1, 2), "memoryview": memoryview(element)}[keep]
    seen = weakref.ref(element)
    del element
    assert not pair.views.returned and (keep == "view" or seen() is not None)
    del kept
    assert list(pair.views.returned) == [(slot, True)]
    pair.views.returned.clear()
    pair.close()
