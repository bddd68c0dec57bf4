"""Datasets of files and mean images, compared with recordings of MXNet."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

import recordmill.compat.mxnet as mx
from tests.compat.mxnet.dataset_programs import PROGRAMS
from tests.recorded import load_recording


@pytest.mark.parametrize("name", [*PROGRAMS])
def test_program_returns_values_of_mxnet(name: str, tmp_path: Path) -> None:
    found = json.loads(json.dumps(PROGRAMS[name](mx, str(tmp_path))))
    assert found == load_recording("compat/mxnet/files/expected.json")[name]


@pytest.mark.parametrize(
    "images, message",
    [
        (None, "No such file"),
        (gzip.compress(b"\0\0\x08\x03" + b"\0\0\0\3" * 3, mtime=0), "truncated"),
        (gzip.compress(b"\0\0\x08\x03" + b"\x7f\xff\xff\xff" * 3, mtime=0), "truncated"),
        (gzip.compress(b"\0\0\x08\x03" + b"\0\0\0\1" * 3 + b"\7", mtime=0)[:-9], "invalid MNIST format"),
        (b"\x1f\x8bnothing", "invalid MNIST format"),
        (b"\0\0\x08\x03" + b"\0\0\0\1" * 3 + b"\7", "expected one label per image, got 1 images and 2 labels"),
    ],
)
def test_mnist_rejects_invalid_files(images, message, tmp_path: Path) -> None:
    name = "train-images-idx3-ubyte.gz"
    (tmp_path / "train-labels-idx1-ubyte").write_bytes(b"\0\0\x08\x01\0\0\0\2\1\1")
    if images is not None:
        (tmp_path / name).write_bytes(images)
    with pytest.raises(mx.MXNetError, match=message) as caught:
        mx.gluon.data.vision.MNIST(tmp_path)
    assert caught.value.shard == str(tmp_path / name)


def test_cifar_rejects_missing_and_truncated_files(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("MXNET_HOME", str(tmp_path))
    with pytest.raises(FileNotFoundError, match="nothing is downloaded"):
        mx.gluon.data.vision.CIFAR100()
    (tmp_path / "datasets/cifar100").mkdir(parents=True)
    (tmp_path / "datasets/cifar100/train.bin").write_bytes(bytes(3075))
    with pytest.raises(mx.MXNetError, match="truncated"):
        mx.gluon.data.vision.CIFAR100()
