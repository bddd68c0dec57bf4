"""The thread that runs ahead: order, bounds, errors in their place, and its end."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from recordmill.adapters.ahead import Ahead


def alive() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name == "recordmill-ahead"]


class Counted:
    """Counts what was taken; closes like a generator."""

    def __init__(self, count: int, fails_at: int | None = None) -> None:
        self.taken, self.is_closed = 0, False
        self._count, self._fails_at = count, fails_at
        self.grown = threading.Condition()

    def __iter__(self) -> Iterator[int]:
        return self

    def __next__(self) -> int:
        with self.grown:
            if self.taken == self._fails_at:
                raise OSError("gone")
            if self.taken == self._count:
                raise StopIteration
            self.taken += 1
            self.grown.notify_all()
            return self.taken - 1

    def wait_for(self, count: int) -> None:
        with self.grown:
            assert self.grown.wait_for(lambda: self.taken >= count, timeout=30)

    def close(self) -> None:
        self.is_closed = True


@pytest.mark.parametrize("depth", [0, 1, 5, 100])
def test_items_when_made_ahead_then_come_in_order_and_the_thread_ends(depth: int) -> None:
    items = Counted(20)
    assert list(Ahead(items, depth)) == list(range(20))
    assert items.is_closed and alive() == []


def test_thread_when_the_caller_takes_nothing_then_stops_at_the_depth() -> None:
    items = Counted(100)
    ahead = Ahead(items, depth=2)
    items.wait_for(3)
    next(ahead)
    items.wait_for(4)
    assert items.taken == 4
    ahead.close()
    assert items.taken <= 5 and items.is_closed and alive() == []


def test_error_when_it_happens_ahead_then_reaches_the_caller_in_its_place() -> None:
    ahead = Ahead(Counted(10, fails_at=3), depth=5)
    assert [next(ahead) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(OSError, match="gone"):
        next(ahead)
    assert alive() == [] and list(ahead) == []


def test_iterator_when_closed_twice_or_used_afterwards_then_is_over() -> None:
    ahead = Ahead(Counted(10), depth=1)
    ahead.close()
    ahead.close()
    assert list(ahead) == [] and alive() == []


def test_iterator_when_used_in_another_process_then_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    ahead = Ahead(Counted(10), depth=1)
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr("os.getpid", lambda: -1)
        with pytest.raises(RuntimeError, match="after a fork"):
            next(ahead)
        ahead.close()
    ahead.close()
    assert alive() == []
