"""Programs return the values that were recorded with TensorFlow."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import recordmill.compat.tensorflow as tf
from recordmill.compat.tensorflow.graphs.modes import ExecutionMode
from tests.compat.tensorflow import (
    data_programs,
    graph_programs,
    guide_programs,
    operation_programs,
    record_file_programs,
    training_input_programs,
    transformation_programs,
)
from tests.compat.tensorflow.program_helpers import to_plain
from tests.recorded import load_recording

# Programs, and the folder of their recording.
SUITES: dict[str, tuple[Any, str]] = {
    "data": (data_programs, "data"),
    "guides": (guide_programs, "examples"),
    "operations": (operation_programs, "strangers"),
    "record files": (record_file_programs, "public"),
    "training input": (training_input_programs, "wider"),
    "transformations": (transformation_programs, "owned"),
}
EXCLUDED = {
    ("data", "errors"),  # See test_error_has_class_of_tensorflow.
    ("training input", "several_inputs"),  # See test_training_with_several_inputs_equals_tensorflow.
}
PROGRAMS = [(suite, name) for suite in SUITES for name in SUITES[suite][0].PROGRAMS if (suite, name) not in EXCLUDED]


def load_expected(folder: str) -> Any:
    return load_recording(f"compat/tensorflow/{folder}/expected.json")


def drop_error_texts(value: Any) -> Any:
    """Replace each pair of an error's class and text by the class."""
    if isinstance(value, dict):
        return {key: drop_error_texts(item) for key, item in value.items()}
    if not isinstance(value, list):
        return value
    if len(value) == 2 and isinstance(value[0], str) and value[0].endswith("Error"):
        return value[:1]
    return [drop_error_texts(item) for item in value]


@pytest.mark.parametrize("suite, name", PROGRAMS)
def test_program_returns_values_of_tensorflow(suite: str, name: str, tmp_path: Path) -> None:
    module, folder = SUITES[suite]
    found, expected = to_plain(module.PROGRAMS[name](tf, str(tmp_path))), load_expected(folder)[name]
    if suite == "transformations":
        found, expected = drop_error_texts(found), drop_error_texts(expected)
    assert found == expected


@pytest.fixture
def graph_mode() -> Iterator[None]:
    tf.compat.v1.disable_eager_execution()
    yield
    ExecutionMode.eager = None


@pytest.mark.usefixtures("graph_mode")
@pytest.mark.parametrize("name", graph_programs.PROGRAMS)
def test_graph_program_returns_values_of_tensorflow(name: str, tmp_path: Path) -> None:
    found = to_plain(graph_programs.PROGRAMS[name](tf.compat.v1, str(tmp_path)))
    assert found == load_expected("graphs")[name]


@pytest.fixture(scope="module")
def data_errors() -> dict[str, Any]:
    return data_programs.errors(tf, "")


@pytest.mark.parametrize("name", list(load_expected("data")["errors"]))
def test_error_has_class_of_tensorflow(name: str, data_errors: dict[str, Any]) -> None:
    class_name, _ = load_expected("data")["errors"][name]
    assert class_name in [base.__name__ for base in data_errors[name][2].__mro__]


@pytest.mark.deep
def test_training_with_several_inputs_equals_tensorflow(tmp_path: Path) -> None:
    found = to_plain(training_input_programs.PROGRAMS["several_inputs"](tf, str(tmp_path)))
    assert found == load_expected("wider")["several_inputs"]
