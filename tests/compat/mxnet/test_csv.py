"""``mx.io.CSVIter`` refuses what it cannot read, and says where; its values are in test_values.py."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordmill.compat.mxnet as mx


@pytest.mark.parametrize(
    "text, options, told",
    [
        ("1,2\n3,4\n", {"data_shape": (3,)}, r"2 values in a row"),
        ("1,2\n3\n", {"data_shape": (2,)}, "no table of numbers"),
        ("1,a\n", {"data_shape": (2,)}, "no table of numbers"),
        ("1,2e1.5\n", {"data_shape": (2,)}, "an exponent is a whole number"),
        ("1e2,2e\n", {"data_shape": (2,)}, "no table of numbers"),
        ("1e2,e3\n", {"data_shape": (2,)}, "no table of numbers"),
        ("1e2e3,2\n", {"data_shape": (2,)}, "no table of numbers"),
        ("", {"data_shape": (2,)}, "0 values in a row"),
        ("1,2\n", {}, "Required parameter data_shape is not presented"),
        ("1,2\n", {"data_shape": "a"}, "Invalid Parameter format for data_shape"),
        ("1,2\n", {"data_shape": (0,)}, "lengths of 1 or more"),
        ("1,2\n", {"data_shape": (2,), "dtype": "float64"}, "unknown dtype"),
        ("1,2\n", {"data_shape": (2,), "labelcsv": "a"}, "did you mean label_csv"),
    ],
)
def test_file_or_parameter_when_it_is_wrong_then_is_refused(text, options, told, tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text(text)
    given: dict[str, Any] = {"data_csv": str(path), "batch_size": 1} | options
    with pytest.raises(ValueError, match=told) as caught:
        mx.io.CSVIter(**given)
    assert isinstance(caught.value, mx.MXNetError)


def test_file_when_it_is_not_there_then_is_a_file_not_found_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        mx.io.CSVIter(data_csv=str(tmp_path / "none.csv"), data_shape=(1,), batch_size=1)
    assert isinstance(caught.value, mx.MXNetError)


def test_epochs_when_a_batch_was_completed_then_begin_with_the_first_row(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("".join(f"{number}\n" for number in range(5)))
    for round_batch in (True, False):
        data = mx.io.CSVIter(data_csv=str(path), data_shape=(1,), batch_size=2, round_batch=round_batch)
        for _ in range(2):
            found = [(batch.data[0].asnumpy().ravel().tolist(), batch.pad) for batch in data]
            assert found == [([0, 1], 0), ([2, 3], 0), ([4, 0], 1)]
            data.reset()


def test_numbers_when_exponents_are_beyond_a_float_then_are_the_nearest(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("1e-44\n1e39\n-1e99999\n0e50\n12e-9999999\n")
    batch = next(mx.io.CSVIter(data_csv=str(path), data_shape=(1,), batch_size=5))
    assert batch.data[0].asnumpy().ravel().tolist() == [float(np.float32(1e-44)), np.inf, -np.inf, 0, 0]
