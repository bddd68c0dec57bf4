"""Raw arrays and text."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

import recordmill as rm

DTYPES = ["uint8", "int8", ">i2", "<u4", ">f4", "float64", "bool", "complex64"]


@given(st.lists(st.integers(0, 255), min_size=3, max_size=3), st.sampled_from(DTYPES))
def test_raw_of_fixed_shape_is_one_array(values: list[int], dtype: str) -> None:
    arrays = [np.full((2, 3), value).astype(dtype) for value in values]
    rows = [array.tobytes() for array in arrays]
    spec = {"x": rm.Raw(dtype, (2, 3))}
    for column in (rows, rm.Ragged.from_rows(rows), rm.Ragged(rm.Ragged.from_rows(rows), np.arange(4))):
        batch = rm.decode_batch({"x": column}, spec)["x"]
        assert batch.dtype == np.dtype(dtype).newbyteorder("=") and batch.dtype.isnative and batch.flags.writeable
        np.testing.assert_array_equal(batch, np.stack(arrays))


@pytest.mark.parametrize("dtype", ["uint8", ">i2", "bool", "float64"])
@pytest.mark.parametrize("cast", ["float16", "float32", "float64"])
@pytest.mark.parametrize("stack", [True, False])
def test_raw_is_cast_before_it_is_scaled(dtype: str, cast: str, stack: bool) -> None:
    arrays = [np.arange(start, start + 6).reshape(2, 3).astype(dtype) for start in (0, 100)]
    rows = [array.tobytes() for array in arrays]
    for shape, columns in (((2, 3), {"x": rm.Ragged.from_rows(rows)}), (("n", 3), {"x": rows, "n": [2, 2]})):
        spec = rm.Raw(dtype, shape, stack=stack, cast=cast, scale=1 / 255)
        for found, array in zip(rm.decode_batch(columns, {"x": spec})["x"], arrays, strict=True):
            assert found.dtype == cast
            np.testing.assert_array_equal(found, array.astype(cast) * np.dtype(cast).type(1 / 255))


def test_raw_reads_shape_from_features() -> None:
    arrays = [np.arange(6, dtype=np.float32).reshape(2, 3), np.arange(4, dtype=np.float32).reshape(4, 1)]
    columns = {
        "x": [array.tobytes() for array in arrays],
        "height": np.array([2, 4]),
        "width": rm.Ragged(np.array([3.0, 1.0]), np.array([0, 1, 2])),
    }
    batch = rm.decode_batch(columns, {"x": rm.Raw("float32", ("height", "width"), stack=False)})
    for found, expected in zip(batch["x"], arrays, strict=True):
        np.testing.assert_array_equal(found, expected)
    assert batch["height"].tolist() == [2, 4]
    with pytest.raises(rm.DecodeError, match="same shape"):
        rm.decode_batch(columns, {"x": rm.Raw("float32", ("height", "width"))})


def test_raw_with_missing_bytes_fails_its_sample() -> None:
    columns = {"x": [bytes(8), bytes(7), bytes(8)], "n": [1, 2, 3]}
    with pytest.raises(rm.DecodeError, match="8 bytes") as caught:
        rm.decode_batch(columns, {"x": rm.Raw("float32", (2,))})
    assert (caught.value.position, caught.value.kind) == (1, "feature_mismatch")
    kept = rm.decode_batch(columns, {"x": rm.Raw("float32", (2,))}, on_error="skip")
    assert kept["x"].shape == (2, 2) and kept["n"] == [1, 3]


@pytest.mark.parametrize("length", [-1, 0.5, "a"])
def test_raw_rejects_invalid_length_feature(length) -> None:
    with pytest.raises(rm.FeatureError, match="must hold the length of an array axis"):
        rm.decode_batch({"x": [b""], "n": [length]}, {"x": rm.Raw("uint8", ("n",))})


def test_raw_of_empty_batch_has_its_shape() -> None:
    assert rm.decode_batch([], {"x": rm.Raw("int32", (2, 3))})["x"].shape == (0, 2, 3)


def test_raw_is_written_to_out_array() -> None:
    array = np.zeros((2, 3), np.int16)
    assert rm.decode_batch([b"\0\1\0\2\0\3"] * 2, {"x": rm.Raw(">i2", (3,))}, out={"x": array})["x"] is array
    assert array.tolist() == [[1, 2, 3]] * 2


def test_text_is_an_array_of_str() -> None:
    batch = rm.decode_batch(rm.Ragged.from_rows(["é".encode(), b"", b"a\0b\0"]), {"t": rm.Text()})["t"]
    assert batch.dtype == object and batch.tolist() == ["é", "", "a\0b\0"]
    latin = [np.frombuffer(b"\xe9", np.uint8)]
    assert rm.decode_batch({"t": latin}, {"t": rm.Text("latin-1")})["t"].tolist() == ["é"]


def test_text_of_several_strings_is_a_list() -> None:
    column = rm.Ragged(rm.Ragged.from_rows([b"a", b"b", b"c"]), np.array([0, 2, 2, 3]))
    assert rm.decode_batch({"t": column}, {"t": rm.Text()})["t"].tolist() == [["a", "b"], [], ["c"]]


def test_invalid_text_raises_or_is_replaced() -> None:
    with pytest.raises(rm.DecodeError, match="utf-8") as caught:
        rm.decode_batch([b"ok", b"\xff"], {"t": rm.Text()})
    assert caught.value.position == 1 and isinstance(caught.value.cause, UnicodeDecodeError)
    assert rm.decode_batch([b"\xff"], {"t": rm.Text(errors="replace")})["t"].tolist() == ["\ufffd"]
    with pytest.raises(rm.DecodeError, match="byte strings"):
        rm.decode_batch({"t": np.arange(2)}, {"t": rm.Text()})
