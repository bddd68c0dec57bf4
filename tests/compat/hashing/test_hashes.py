"""Hashes give the numbers that TensorFlow recorded, for one string and for many of a length."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from recordmill.compat.hashing import farm, murmur, sip
from tests.golden import load

MANY = 20


@pytest.fixture(scope="module")
def recorded() -> Any:
    return load("compat/tensorflow/hashes/expected.json")


def numbers(name: str, strings: list[bytes], recorded: Any) -> list[int]:
    if name == "fingerprint":
        return farm.fingerprints(strings).tolist()
    found = murmur.hashes(strings) if name == "older" else sip.hashes(strings, tuple(recorded["key"]))
    return (found % np.uint64(recorded["buckets"])).tolist()


@pytest.mark.parametrize("name", ["fingerprint", "older", "strong"])
def test_strings_when_hashed_then_have_the_recorded_numbers(name: str, recorded: Any) -> None:
    strings = [bytes.fromhex(one) for one in recorded["strings"]]
    assert numbers(name, strings, recorded) == recorded[name]


@pytest.mark.parametrize("name", ["fingerprint", "older", "strong"])
def test_strings_when_many_have_one_length_then_have_the_numbers_that_they_have_alone(name: str, recorded: Any) -> None:
    given = {bytes.fromhex(one): number for one, number in zip(recorded["strings"], recorded[name], strict=True)}
    rng = np.random.default_rng(1)
    for string, number in given.items():
        others = [rng.integers(0, 256, len(string)).astype(np.uint8).tobytes() for _ in range(MANY)]
        found = numbers(name, [*others, string], recorded)
        assert found[-1] == number
        assert found[0] == numbers(name, others[:1], recorded)[0]


def test_no_strings_when_hashed_then_give_no_numbers() -> None:
    assert farm.fingerprints([]).shape == (0,) and farm.fingerprints([]).dtype == np.uint64
