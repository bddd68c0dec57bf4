"""Expressions give what TensorFlow gave for them: values, dtypes, shapes, and the type of the error."""

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
        import describe
        import expressions
    finally:
        sys.path.remove(str(RECORDINGS))
    results = json.loads((RECORDINGS / "expected.json").read_text("utf-8"))["results"]
    return expressions, describe.describe, results


def evaluate(recorded, expression):
    expressions, describe, _ = recorded
    return describe(lambda: eval(expression, expressions.names_for(tf, np)))


def test_operations_return_recorded_values(recorded) -> None:
    expressions, _, results = recorded
    differing = {}
    for expression in expressions.EXACT:
        found = json.loads(json.dumps(evaluate(recorded, expression)))
        if found != results[expression]:
            differing[expression] = (found, results[expression])
    assert differing == {}
    assert len(results) > 900


def test_approximate_functions_differ_in_last_bits_only(recorded) -> None:
    expressions, _, results = recorded
    steps = {"float64": 2e-15, "float32": 1e-6}
    for expression in expressions.CLOSE:
        found, expected = evaluate(recorded, expression), results[expression]
        if "values" not in expected:
            assert found == expected, expression
            continue
        assert (found["dtype"], found["shape"]) == (expected["dtype"], expected["shape"]), expression
        ours, theirs = ([to_number(one) for one in result["values"]] for result in (found, expected))
        assert np.allclose(ours, theirs, rtol=steps.get(found["dtype"], 0), atol=1e-7, equal_nan=True), expression


def to_number(value):
    return float.fromhex(value) if isinstance(value, str) else value
