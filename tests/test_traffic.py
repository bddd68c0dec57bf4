"""Counters of requests to remote storage."""

from __future__ import annotations

from dataclasses import asdict

from hypothesis import given, strategies as st

from recordmill.types import Traffic

COUNTS = st.builds(Traffic, *[st.integers(0, 1 << 60)] * 4)


def test_traffic_is_zero_by_default() -> None:
    assert set(asdict(Traffic()).values()) == {0}


@given(COUNTS, COUNTS)
def test_difference_of_traffics_is_what_was_added(one: Traffic, other: Traffic) -> None:
    total = one + other
    assert asdict(total) == {name: value + asdict(other)[name] for name, value in asdict(one).items()}
    assert total - one == other and total - total == Traffic()


def test_sum_of_traffics_starts_with_an_empty_one() -> None:
    assert sum([Traffic(1, 2, 3, 4), Traffic(10, 20, 30, 40)], Traffic()) == Traffic(11, 22, 33, 44)
