"""Recorded calls of parsing, files and tensor messages return the values, or raise the error types, of TensorFlow."""

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

_BEYOND = "invalid rows raise, also without validate"
_MIXED = "a row of values of two records raises"
_FIRST = "the first split of a record is ignored, as TensorFlow does in batches"
_STRAY = "bytes after the last record raise instead of being ignored"
# Cases in which the package differs from TensorFlow, with the reason.
DIFFERENT = {
    "divided: beyond the values, validate=False": _BEYOND,
    "divided alone: beyond the values, validate=False": _BEYOND,
    "divided: falling, validate=False": _BEYOND,
    "divided alone: falling, validate=False": _BEYOND,
    "divided alone: a late begin, validate=False": _BEYOND,
    "divided alone: a late begin, validate=True": _FIRST,
    "divided: a length that does not come out, validate=False": _MIXED,
    "divided: a length that does not come out, validate=True": _MIXED,
    "cut in a length": _STRAY,
    "a few bytes more": _STRAY,
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


def differs(expected: dict[str, Any], found: dict[str, Any]) -> bool:
    """Whether outcomes differ; of errors, only the types are compared."""
    if "error" not in expected or "error" not in found:
        return found != expected
    return bool(found["error"] != expected["error"])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cases")


@pytest.mark.parametrize("module", MODULES)
def test_recorded_calls_return_and_raise_as_in_tensorflow(module: str, folder: Path) -> None:
    expected, found = recorded(module), ours(module, folder)
    assert found.keys() == expected.keys()
    wrong = {
        name: (expected[name], found[name])
        for name in expected
        if name not in DIFFERENT and differs(expected[name], found[name])
    }
    assert wrong == {}


@pytest.mark.parametrize("name", sorted(DIFFERENT))
def test_listed_differences_differ(name: str, folder: Path) -> None:
    module = next(module for module in MODULES if name in recorded(module))
    assert differs(recorded(module)[name], ours(module, folder)[name]), "it is the same by now"
