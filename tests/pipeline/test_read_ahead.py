"""Which records are requested ahead, and when, with sources that record the requests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from recordmill.pipeline import read_ahead
from recordmill.pipeline.read_ahead import ReadAhead, Segment
from recordmill.pipeline.samples import Positions
from tests.concurrency.helpers import wait_until

RECORDS_PER_WINDOW = 10


class Source:
    """A remote source that records which positions are requested and dropped."""

    is_remote = True
    mean_record_bytes = 1

    def __init__(self) -> None:
        self.requested: list[int] = []
        self.dropped: list[int] = []

    def locate_records(self, positions: Positions) -> list[tuple[Any, Any]]:
        return [(self, positions.array)]

    def request_ahead(self, positions: np.ndarray) -> Callable[[], None]:
        self.requested += positions.tolist()
        return lambda: self.dropped.extend(positions.tolist())


@pytest.fixture
def source(monkeypatch: pytest.MonkeyPatch) -> Source:
    monkeypatch.setattr(read_ahead, "_WINDOW_BYTES", RECORDS_PER_WINDOW)
    return Source()


def open_ahead(source: Any, records_per_element: int, num_elements: int) -> ReadAhead:
    def segments() -> Iterator[Segment]:
        for number in range(num_elements):
            start = number * records_per_element
            positions = Positions(0, range(start, start + records_per_element))
            yield Segment((0, number), source, positions, -1)

    return ReadAhead(segments(), (0, 0))


def test_first_element_does_not_wait_for_second_window(source: Source) -> None:
    ahead = open_ahead(source, records_per_element=5, num_elements=8)
    ahead.prepare((0, 0))
    assert not wait_until(lambda: len(source.requested) > RECORDS_PER_WINDOW, patience_s=0.2)
    assert source.requested == [*range(10)]
    ahead.prepare((0, 1))
    assert wait_until(lambda: source.requested == [*range(20)])
    ahead.close()


@pytest.mark.parametrize("records_per_element", [5, 10, 25])
def test_next_window_is_always_requested_after_the_first_element(source: Source, records_per_element: int) -> None:
    ahead = open_ahead(source, records_per_element, num_elements=6)
    for number in range(6):
        ahead.prepare((0, number))
        stop = min(number + 2 if number else 1, 6) * records_per_element
        assert wait_until(lambda stop=stop: {*range(stop)} <= {*source.requested}, patience_s=10)
        ahead.release((0, number + 1))
    assert source.requested == source.dropped == [*range(6 * records_per_element)]
    ahead.close()
