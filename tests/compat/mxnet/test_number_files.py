"""Files of numbers: what MXNet read and wrote is found here, and files that are wrong are refused by place."""

from __future__ import annotations

import gzip
import itertools
import json
import pickle
from pathlib import Path

import numpy as np
import pytest

import recordmill.compat.mxnet as mx
from recordmill.compat.mxnet.io import libsvm_files
from tests.compat.mxnet.file_programs import PROGRAMS, digits
from tests.golden import load


@pytest.mark.parametrize("name", [*PROGRAMS])
def test_programs_when_run_then_find_what_mxnet_gave(name: str, tmp_path: Path) -> None:
    found = json.loads(json.dumps(PROGRAMS[name](mx, str(tmp_path))))
    expected = load("compat/mxnet/files/expected.json")[name]
    assert found.keys() == expected.keys()
    for case, values in expected.items():
        assert found[case] == values, case


@pytest.mark.parametrize(
    "cut, options, told",
    [
        ({"images": -30}, {}, "ends before its last row"),
        ({"labels": -1}, {}, "ends before its last row"),
        ({"images": 9}, {}, "invalid mnist format"),
        ({"labels": 0}, {}, "invalid mnist format"),
        ({"images": b"\0\0\x08\x03" + b"\x7f\xff\xff\xff" * 3}, {}, "ends before its last row"),
        ({"images": b"\0\0\x08\x03" + b"\xff\xff\xff\xf0" * 3}, {}, "lengths that are none"),
        ({"images": b"\0\0\x08\x01" + b"\0\0\0\1" * 3}, {}, "invalid mnist format"),
        ({"images": gzip.compress(b"\0" * 99)}, {}, "compressed"),
        ({"labels": b"\0\0\x08\x01\0\0\0\5" + b"\1" * 5}, {}, "differ in number"),
        ({}, {"batch_size": 24}, "fewer images than make a batch"),
        ({}, {"batch_size": 0}, "should be greater equal to 1"),
        ({}, {"num_parts": 2, "part_index": 2}, "num_parts > param_.part_index"),
        ({}, {"dtype": "uint8"}, "dtype is float32"),
        ({}, {"shufle": True}, "did you mean shuffle"),
        ({}, {"image": "none"}, "No such file"),
    ],
)
def test_digits_when_files_or_parameters_are_wrong_then_are_refused(cut, options, told, tmp_path: Path) -> None:
    files = digits(tmp_path)
    for name, change in cut.items():
        path = tmp_path / f"{name}-23"
        path.write_bytes(change if isinstance(change, bytes) else path.read_bytes()[:change])
    with pytest.raises(mx.MXNetError, match=told) as caught:
        mx.io.MNISTIter(**files | {"batch_size": 5} | options)
    if cut:
        assert caught.value.shard == str(path)


@pytest.mark.parametrize(
    "images, told",
    [
        (None, "No such file"),
        (gzip.compress(b"\0\0\x08\x03" + b"\0\0\0\3" * 3), "ends before its last row"),
        (gzip.compress(b"\0\0\x08\x03" + b"\x7f\xff\xff\xff" * 3), "ends before its last row"),
        (gzip.compress(b"\0\0\x08\x03" + b"\0\0\0\1" * 3 + b"\7")[:-9], "invalid mnist format"),
        (b"\x1f\x8bnothing", "invalid mnist format"),
        (b"\0\0\x08\x03" + b"\0\0\0\1" * 3 + b"\7", "differ in number"),
    ],
)
def test_data_set_when_its_files_are_wrong_then_is_refused(images, told, tmp_path: Path) -> None:
    name = "train-images-idx3-ubyte.gz"
    (tmp_path / "train-labels-idx1-ubyte").write_bytes(b"\0\0\x08\x01\0\0\0\2\1\1")
    if images is not None:
        (tmp_path / name).write_bytes(images)
    with pytest.raises(mx.MXNetError, match=told) as caught:
        mx.gluon.data.vision.MNIST(tmp_path)
    assert caught.value.shard == str(tmp_path / name)


def test_data_set_when_a_file_is_cut_or_not_there_then_is_refused(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("MXNET_HOME", str(tmp_path))
    with pytest.raises(FileNotFoundError, match="nothing is downloaded"):
        mx.gluon.data.vision.CIFAR100()
    (tmp_path / "datasets/cifar100").mkdir(parents=True)
    (tmp_path / "datasets/cifar100/train.bin").write_bytes(bytes(3075))
    with pytest.raises(mx.MXNetError, match="the file is cut"):
        mx.gluon.data.vision.CIFAR100()


@pytest.mark.parametrize(
    "text, options, told",
    [
        ("1 0:1\n2 3:1\n", {}, r"line 2 .*column 3 of a row of 3"),
        ("1 0:1\nword 0:1\n", {}, r"line 2 is no row"),
        ("1 0:1\n2 0:a\n", {}, r"line 2 is no row"),
        ("1 0:1\n2 -1:1\n", {}, r"line 2 .*expected column:value"),
        ("1 0\n", {}, r"line 1 .*expected column:value"),
        ("1 0:1_0\n", {}, r"line 1 .*no number"),
        (f"1 {'9' * 5000}:1\n", {}, r"line 1 .*column 9+ of a row of 3"),
        ("\n# nothing\n", {}, "the part has no rows"),
        ("", {}, "Cannot find any files"),
        ("1 0:1\n", {"batch_size": 3}, "must be bigger than batch size"),
        ("1 0:1\n", {"batch_size": 0}, "at least 1"),
        ("1 0:1\n", {"data_shape": (3, 1)}, "dimension of data_shape is expected to be 1"),
        ("1 0:1\n", {"label_shape": (3,)}, "label_shape is expected to be"),
        ("1 0:1\n", {"label_libsvm": "x"}, "label_shape is not expected to be"),
        ("1 0:1\n", {"round_batch": False}, "round_batch == false"),
        ("1 0:1\n", {"dtype": "int32"}, "dtype is float32"),
        ("1 0:1\n", {"num_parts": 1, "part_index": -1}, "part < nsplit"),
        ("1 0:1\n", {"data_libsvm": "none"}, "No such file"),
        ("1 0:1\n", {"data_libsvm": ""}, "Required parameter data_libsvm"),
        ("1 0:1\n", {"label": 1}, "no parameter 'label'"),
    ],
)
def test_sparse_rows_when_file_or_parameters_are_wrong_then_are_refused(text, options, told, tmp_path: Path) -> None:
    path = tmp_path / "data.t"
    path.write_text(text)
    with pytest.raises(mx.MXNetError, match=told) as caught:
        mx.io.LibSVMIter(**{"data_libsvm": str(path), "data_shape": 3, "batch_size": 1} | options)
    if told.startswith("line"):
        assert caught.value.shard == str(path) and caught.value.record == text.count("\n") - 1


def test_sparse_rows_when_labels_are_fewer_then_are_refused(tmp_path: Path) -> None:
    for name, count in (("data", 3), ("labels", 2)):
        (tmp_path / name).write_text("1 0:1\n" * count)
    paths = {"data_libsvm": str(tmp_path / "data"), "label_libsvm": str(tmp_path / "labels")}
    with pytest.raises(ValueError, match="there are fewer labels"):
        mx.io.LibSVMIter(**paths, data_shape=(3,), label_shape=(2,), batch_size=1)


def test_sparse_rows_when_comments_stand_between_and_epochs_follow_then_begin_with_the_first(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("1 0:1\n# no row\n2 0:2\n3 0:1e39\n")
    data = mx.io.LibSVMIter(data_libsvm=str(tmp_path / "data"), data_shape=(1,), batch_size=2)
    for _ in range(2):
        assert [batch.label[0].asnumpy().tolist() for batch in data] == [[1, 2], [3, 1]]
        data.reset()
    assert np.isinf(mx.nd.sparse.csr_matrix(next(itertools.islice(data, 1, 2)).data[0]).asnumpy()[0, 0])


@pytest.mark.parametrize(
    "parts, shape",
    [
        (([1.0], [0], [0, 2]), None),
        (([1.0], [5], [0, 1]), (1, 5)),
        (([1.0], [-1], [0, 1]), (1, 5)),
        (([1.0, 2], [0, 1], [0, 2, 1, 2]), None),
        (([1.0], [0], [1, 1]), None),
        (([1.0], [0], []), None),
        (([1.0], [0], [0, 1]), (2, 5)),
        (([1.0], [0]), None),
        (np.zeros(3), None),
    ],
)
def test_sparse_matrix_when_parts_contradict_one_another_then_is_refused(parts, shape) -> None:
    with pytest.raises(ValueError, match=r"found|rises|ends|has|given|columns") as caught:
        mx.nd.sparse.csr_matrix(parts, shape=shape)
    assert isinstance(caught.value, mx.MXNetError)


def test_sparse_matrix_when_something_else_is_asked_then_is_refused_with_a_hint() -> None:
    found = mx.nd.sparse.csr_matrix(([1.0], [0], [0, 1]))
    for wrong in (lambda: found.abs, lambda: found[::2], lambda: found.tostype("x"), lambda: mx.nd.sparse.dot):
        with pytest.raises(mx.MXNetError, match=r"asnumpy|not supported"):
            wrong()
    with pytest.raises(IndexError):
        found[3]


def test_sparse_rows_when_read_together_then_are_those_that_are_read_one_by_one(tmp_path: Path, monkeypatch) -> None:
    rng, path = np.random.default_rng(3), tmp_path / "rows.t"
    numbers = ("1", "-2.5", "+.5", "3.", "0.1234567891234", "16777217", "-0", "33333.333333")
    for _ in range(40):
        lines = []
        for _ in range(rng.integers(1, 30)):
            pairs = [f"{column}:{rng.choice(numbers)}" for column in rng.integers(0, 9, rng.integers(0, 5))]
            lines.append(
                rng.choice([" ", "\t", "  "]).join([rng.choice(numbers), *pairs]) + rng.choice(["", " ", "\n"])
            )
        path.write_text("\n".join(lines))
        found = []
        for is_quick in (True, False):
            with monkeypatch.context() as patch:
                if not is_quick:
                    patch.setattr(libsvm_files._Rows, "put_together", lambda rows, lines: False)
                labels, rows = libsvm_files.read_rows(str(path), "data_libsvm", 9, 1, 0)
            found.append([labels, rows.data, rows.indices, rows.indptr])
        for quick, slow in zip(*found, strict=True):
            assert quick.dtype == slow.dtype and quick.tobytes() == slow.tobytes()


def test_iterators_and_errors_when_pickled_then_stay_what_they_are(tmp_path: Path) -> None:
    (tmp_path / "rows.t").write_text("1 0:1\n2 0:2\n")
    for data in (
        mx.io.MNISTIter(**digits(tmp_path), batch_size=5, silent=True),
        mx.io.LibSVMIter(data_libsvm=str(tmp_path / "rows.t"), data_shape=(1,), batch_size=1),
    ):
        again = pickle.loads(pickle.dumps(data))
        assert [batch.label[0].asnumpy().tolist() for batch in again] == [b.label[0].asnumpy().tolist() for b in data]
        with pytest.raises(mx.MXNetError, match="call iter_next first"):
            data.getdata()
    (tmp_path / "rows.t").write_text("word\n")
    with pytest.raises(mx.MXNetError, match="line 1") as caught:
        mx.io.LibSVMIter(data_libsvm=str(tmp_path / "rows.t"), data_shape=(1,), batch_size=1)
    again = pickle.loads(pickle.dumps(caught.value))
    assert (again.shard, again.record, again.kind) == (str(tmp_path / "rows.t"), 0, "bad_libsvm")
