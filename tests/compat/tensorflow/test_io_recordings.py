"""What TensorFlow returned and raised in recorded calls, and ours: the same but for what is named here."""

from __future__ import annotations

import functools
import importlib
import json
from pathlib import Path
from typing import Any

import pytest

import recordmill.compat.tensorflow as tf
from tests.recordings.compat.tensorflow.io.spelling import outcome

PLACE = "tests.recordings.compat.tensorflow.io"
FOLDER = Path(__file__).parents[2] / "recordings" / "compat" / "tensorflow" / "io"
MODULES = ("composing_cases", "file_cases", "parsing_cases", "raw_cases", "sequence_cases")

# Ours raises the same class, in other words.
REWORDED = {
}
# Ours differs; the reason.
DIFFERENT: dict[str, str] = {
}


@functools.cache
def recorded(module: str) -> dict[str, Any]:
    """Outcomes by the name of the case."""
    found: dict[str, Any] = json.loads((FOLDER / f"{module}.json").read_text("utf-8"))
    return found


@functools.cache
def ours(module: str, folder: Path) -> dict[str, Any]:
    """Outcomes of the same calls."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        cases = importlib.import_module(f"{PLACE}.{module}").cases(tf)
        return {name: outcome(act) for name, act in cases}


def differs(expected: dict[str, Any], found: dict[str, Any], *, reworded: bool = False) -> bool:
    """Whether outcomes are not the same; messages may say more than TensorFlow's."""
    if "error" not in expected or "error" not in found:
        return found != expected
    same_words = reworded or found["message"].startswith(expected["message"])
    return found["error"] != expected["error"] or not same_words


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cases")


@pytest.mark.parametrize("module", MODULES)
def test_calls_when_recorded_then_return_and_raise_what_tensorflow_does(module: str, folder: Path) -> None:
    expected, found = recorded(module), ours(module, folder)
    assert found.keys() == expected.keys()
    wrong = {
        name: (expected[name], found[name])
        for name in expected
        if name not in DIFFERENT and differs(expected[name], found[name], reworded=name in REWORDED)
    }
    assert wrong == {}


@pytest.mark.parametrize("name", sorted(DIFFERENT))
def test_exception_when_listed_then_is_one(name: str, folder: Path) -> None:
    module = next(module for module in MODULES if name in recorded(module))
    assert differs(recorded(module)[name], ours(module, folder)[name]), "it is the same by now"
