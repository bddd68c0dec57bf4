"""Hashes give the numbers that TensorFlow recorded, for one string and for many of a length."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from recordmill.compat.hashing import farm
from tests.recorded import load_recording

MANY = 20


@pytest.fixture(scope="module")
def recorded() -> Any:
    return load_recording("compat/tensorflow/hashes/expected.json")


def test_fingerprints_equal_the_recorded_numbers(recorded: Any) -> None:
    strings = [bytes.fromhex(one) for one in recorded["strings"]]
    assert farm.fingerprints(strings).tolist() == recorded["fingerprint"]


def test_fingerprint_does_not_depend_on_other_strings_of_its_length(recorded: Any) -> None:
    rng = np.random.default_rng(1)
    for text, number in zip(recorded["strings"], recorded["fingerprint"], strict=True):
        string = bytes.fromhex(text)
        others = [rng.integers(0, 256, len(string)).astype(np.uint8).tobytes() for _ in range(MANY)]
        found = farm.fingerprints([*others, string]).tolist()
        assert found[-1] == number
        assert found[0] == farm.fingerprints(others[:1]).tolist()[0]


def test_fingerprints_of_no_strings_are_empty() -> None:
    assert farm.fingerprints([]).shape == (0,) and farm.fingerprints([]).dtype == np.uint64
