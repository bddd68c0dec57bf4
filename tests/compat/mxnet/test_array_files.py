"""Files of arrays that are cut, changed or made up end in an error that says where, and take no memory for promises."""

from __future__ import annotations

import contextlib
import random
import struct
from pathlib import Path

import numpy as np
import pytest

import recordmill.compat.mxnet as mx

HEAD = struct.pack("<QQ", 0x112, 0)
ONE = HEAD + struct.pack("<Q", 1)
HUGE = 2**62


def dense(shape: tuple[int, ...], kind: int = 0, dtype: int = 0, magic: int = 0xF993FAC9) -> bytes:
    """Array of a file, up to its values."""
    axes = struct.pack(f"<i{len(shape)}q", len(shape), *shape)
    return ONE + struct.pack("<Ii", magic, kind) + axes + struct.pack("<iii", 1, 0, dtype)


@pytest.mark.parametrize(
    "data, told",
    [
        (b"junk" * 10, "another file"),
        (b"", "ends before"),
        (HEAD[:12], "ends before"),
        (HEAD + struct.pack("<Q", HUGE), "ends before its last array"),
        (dense((HUGE,)), "ends before its last array"),
        (dense((2**40, 2**40, 2**40)), "ends before its last array"),
        (dense((0, HUGE, HUGE)), "impossible shape"),
        (dense((-1, 3)), "impossible shape"),
        (dense((1,) * 40), "impossible shape"),
        (ONE + struct.pack("<Ii", 0xF993FAC9, 0) + struct.pack("<i", -1), "impossible shape"),
        (ONE + struct.pack("<I", 2**31), "impossible shape"),
        (dense((1,), dtype=9), "no known dtype"),
        (dense((1,), dtype=-1), "no known dtype"),
        (dense((1,), kind=1), "row_sparse are not read"),
        (dense((1,), kind=7), "storage type 7"),
        (dense((1,)) + bytes(4) + struct.pack("<QQ", 2, 0), "ends before"),
        (dense((1,)) + bytes(4) + struct.pack("<QQQ", 2, 0, 0), "differ in number"),
        (dense((1,)) + bytes(4) + struct.pack("<QQ", 1, HUGE), "ends before"),
        (dense((1,)) + bytes(4) + struct.pack("<QQ", 1, 2) + b"\xff\xff", "no text"),
    ],
)
def test_arrays_when_file_is_wrong_then_are_refused_with_the_place(data: bytes, told: str, tmp_path: Path) -> None:
    path = tmp_path / "wrong.nd"
    path.write_bytes(data)
    with pytest.raises(mx.MXNetError, match=told) as caught:
        mx.nd.load(str(path))
    assert caught.value.shard == str(path)
    with pytest.raises(mx.MXNetError, match=told):
        mx.nd.load_frombuffer(data)


def test_arrays_when_bytes_are_changed_or_cut_then_end_in_an_error_or_in_arrays(tmp_path: Path) -> None:
    path, rng = tmp_path / "arrays.nd", random.Random(7)
    sparse = mx.nd.sparse.csr_matrix(([1.0, 2], [0, 2], [0, 1, 2]), shape=(2, 3))
    mx.nd.save(path, {"dense": mx.nd.ones((2, 3)), "sparse": sparse})
    whole = path.read_bytes()
    for _ in range(1500):
        data = bytearray(whole[: rng.randrange(len(whole) + 1)] if rng.random() < 0.3 else whole)
        for _ in range(rng.randrange(3)):
            if data:
                data[rng.randrange(len(data))] = rng.choice((0, 1, 127, 128, 255, rng.randrange(256)))
        with contextlib.suppress(mx.MXNetError):
            mx.nd.load_frombuffer(bytes(data))


def test_numpys_scalars_when_read_then_are_there() -> None:
    [found] = mx.nd.load_frombuffer(dense((), magic=0xF993FACA) + struct.pack("<fQ", 3, 0))
    assert found.shape == () and found.asscalar() == 3


def test_array_without_axes_when_saved_then_keeps_its_value(tmp_path: Path) -> None:
    mx.nd.save(tmp_path / "a.nd", mx.nd.array(3))
    assert mx.nd.load(tmp_path / "a.nd")[0].asnumpy().tolist() == [3]


@pytest.mark.parametrize(
    "data, kind",
    [
        (3, ValueError),
        (np.zeros(3), ValueError),
        ([np.zeros(3)], TypeError),
        ({"a": 1}, TypeError),
        ({1: mx.nd.zeros(3)}, TypeError),
        (mx.nd.zeros(3, dtype="int16"), NotImplementedError),
    ],
)
def test_data_when_they_are_no_arrays_then_are_refused_and_the_file_stays(data, kind, tmp_path: Path) -> None:
    path = tmp_path / "a.nd"
    path.write_bytes(b"before")
    with pytest.raises(kind):
        mx.nd.save(path, data)
    assert path.read_bytes() == b"before" and len(list(tmp_path.iterdir())) == 1


def test_file_when_it_is_not_there_then_is_a_file_not_found_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        mx.nd.load(str(tmp_path / "none.nd"))
    assert isinstance(caught.value, mx.MXNetError)
