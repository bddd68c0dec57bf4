"""Gluon's datasets, transforms and loaders, compared with recordings of MXNet."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import recordmill.compat.mxnet as mx
from tests.compat.mxnet import gluon_programs as programs
from tests.recorded import load_recording


@pytest.mark.parametrize("name", [*programs.PROGRAMS])
def test_programs_return_values_of_mxnet(name: str, tmp_path: Path) -> None:
    assert programs.PROGRAMS[name](mx, str(tmp_path)) == load_recording("compat/mxnet/gluon/expected.json")[name]


def test_gluon_rejects_conflicting_options() -> None:
    data = mx.gluon.data
    sampler = data.SequentialSampler(3)
    wrong: list[Any] = [
        lambda: data.DataLoader([1, 2]),
        lambda: data.DataLoader([1, 2], 1, shuffle=True, sampler=sampler),
        lambda: data.DataLoader([1, 2], 1, batch_sampler=data.BatchSampler(sampler, 2)),
        lambda: data.BatchSampler(sampler, 2, "x"),
        lambda: data.SimpleDataset([1]).shard(2, 2),
        lambda: data.ArrayDataset([1], [1, 2]),
    ]
    for run in wrong:
        with pytest.raises(ValueError, match=r"."):
            run()


def test_data_loader_raises_error_of_worker(tmp_path: Path) -> None:
    data = mx.gluon.data

    def failing(number: int) -> int:
        if number == 5:
            raise KeyError("five")
        return number

    loader = data.DataLoader(data.SimpleDataset(list(range(9))).transform(failing), 2, num_workers=2)
    iterator = iter(loader)
    assert next(iterator).asnumpy().tolist() == [0, 1]
    with pytest.raises(KeyError, match="five"):
        list(iterator)


def test_unsupported_gluon_names_have_hints() -> None:
    for run, hint in (
        (lambda: mx.gluon.nn, "train with Keras"),
        (lambda: mx.gluon.Block, "any callable"),
        (lambda: mx.gluon.utils.download, "urllib.request"),
        (lambda: mx.gluon.data.FilterSampler, "Dataset.filter"),
        (lambda: mx.gluon.data.vision.transforms.Cast, "astype"),
        (lambda: mx.gluon.data.vision.ImageListDataset, "pack the list"),
        (lambda: mx.gluon.data.vision.transforms.HybridSequential, "NumPy or OpenCV"),
    ):
        with pytest.raises(mx.MXNetError, match=hint):
            run()
