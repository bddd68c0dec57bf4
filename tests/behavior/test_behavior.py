"""Compare what the library delivers with `expected.json`: `python -m tools.record_behavior` tells how to go on."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest

from tools.record_behavior import EXPECTED, GROUPS, compute_group, find_differences

ALL_EXPECTED: dict[str, dict[str, str]] = json.loads(EXPECTED.read_text("utf-8"))


@cache
def _found(group: str) -> dict[str, str]:
    return compute_group(group)


def _sections() -> list[Any]:
    """Return each group with the first part of its names, such as orders and shuffle."""
    return [
        pytest.param(group, section, id=f"{group}-{section}")
        for group, names in ALL_EXPECTED.items()
        for section in dict.fromkeys(map(_section_of, names))
    ]


def _section_of(name: str) -> str:
    return name.partition("/")[0]


@pytest.mark.parametrize("group, section", _sections())
def test_results_equal_those_recorded(group: str, section: str) -> None:
    expected = {name: one for name, one in ALL_EXPECTED[group].items() if _section_of(name) == section}
    found = {name: one for name, one in _found(group).items() if _section_of(name) == section}
    different = find_differences(expected, found)
    assert different == [], f"see one with: python -m tools.record_behavior --show {group}/{different[0]}"


@pytest.mark.parametrize("group", GROUPS)
def test_expected_results_have_the_names_that_are_computed(group: str) -> None:
    assert list(_found(group)) == list(ALL_EXPECTED[group])


def test_resumed_loader_delivers_the_batches_that_follow_its_state() -> None:
    states: dict[str, Any] = ALL_EXPECTED["states"]
    rest = {name.partition("/")[2]: one for name, one in states.items() if name.startswith("rest/")}
    resumed = {name.partition("/")[2]: one for name, one in states.items() if name.startswith("resumed/")}
    assert rest and rest == resumed
