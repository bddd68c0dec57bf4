"""Expressions give what TensorFlow gave for them: values, dtypes, shapes, and what is raised."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

import recordmill.compat.tensorflow as tf

RECORDINGS = Path(__file__).parents[2] / "recordings" / "compat" / "tensorflow" / "ops"


@pytest.fixture(scope="module")
def recorded():
    """Modules beside the recordings, and the results by expression."""
    sys.path.insert(0, str(RECORDINGS))
    try:
        import expressions
        import told
    finally:
        sys.path.remove(str(RECORDINGS))
    results = json.loads((RECORDINGS / "expected.json").read_text("utf-8"))["results"]
    return expressions, told.told, results


def found_for(recorded, expression):
    expressions, told, _ = recorded
    return told(lambda: eval(expression, expressions.names_for(tf, np)))


def test_expressions_when_run_then_give_what_was_recorded(recorded) -> None:
    expressions, _, results = recorded
    differing = {}
    for expression in expressions.EXACT:
        found = json.loads(json.dumps(found_for(recorded, expression)))
        if found != results[expression]:
            differing[expression] = (found, results[expression])
    assert differing == {}
    assert len(results) > 900


def test_functions_with_approximations_when_run_then_are_within_the_last_bits(recorded) -> None:
    expressions, _, results = recorded
    steps = {"float64": 2e-15, "float32": 1e-6}
    for expression in expressions.CLOSE:
        found, expected = found_for(recorded, expression), results[expression]
        if "values" not in expected:
            assert found == expected, expression
            continue
        assert (found["dtype"], found["shape"]) == (expected["dtype"], expected["shape"]), expression
        ours, theirs = ([as_number(one) for one in told["values"]] for told in (found, expected))
        assert np.allclose(ours, theirs, rtol=steps.get(found["dtype"], 0), atol=1e-7, equal_nan=True), expression


def as_number(told):
    return float.fromhex(told) if isinstance(told, str) else told
