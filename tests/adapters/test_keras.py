"""Keras trains on each family with JAX, and with PyTorch in a separate process, and resumes exactly."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordmill as rm
from tests.adapters import keras_training
from tests.adapters.conftest import IGNORED_WARNINGS, equal
from tests.adapters.squares import BATCH, NUM_BATCHES, batches, samples

os.environ.setdefault("KERAS_BACKEND", "jax")
pytestmark = [pytest.mark.deep, *IGNORED_WARNINGS]


def create_dataset(folder: Path, family: str = "tfrecord", **options: Any) -> Any:
    return rm.keras.PyDataset(batches(folder, family, "hwc"), "image", "label", **options)


def test_dataset_returns_inputs_and_targets_by_position(squares: Path) -> None:
    import keras

    data, expected = create_dataset(squares), batches(squares, "tfrecord", "hwc")[2]
    assert isinstance(data, keras.utils.PyDataset) and len(data) == NUM_BATCHES
    assert equal(data[2], (expected["image"], expected["label"]))
    with pytest.raises(IndexError):
        data[NUM_BATCHES]


def test_dataset_weights_exclude_padding(squares: Path) -> None:
    data = rm.keras.PyDataset(samples(squares, "tfrecord").batch(BATCH, last="pad"), "image", "label", "valid")
    _, _, weight = data[len(data) - 1]
    assert weight.dtype == np.float32 and weight.sum() == 90 % BATCH


def test_pickled_dataset_returns_same_batches(squares: Path) -> None:
    with pytest.warns(UserWarning, match="Keras 3 repeats some batches") as caught:
        data = create_dataset(squares, "ofrecord", workers=2)
    assert caught[0].filename == __file__
    data.set_epoch(3)
    copy = pickle.loads(pickle.dumps(data))
    assert (copy.epoch, copy.workers) == (3, 2) and equal(copy[1], data[1])


def test_dataset_refuses_samples(squares: Path) -> None:
    with pytest.raises(ValueError, match=r"batch\(n\)"):
        rm.keras.PyDataset(samples(squares, "tfrecord"), "image")


def test_fit_reads_one_pipeline_epoch_per_epoch(squares: Path) -> None:
    data, seen = create_dataset(squares), []
    read = data.dataset.fetch

    class Recorder:
        def fetch(self, positions: list[int], epoch: int) -> Any:
            seen.append((epoch, positions[0]))
            return read(positions, epoch=epoch)

    data.dataset = Recorder()
    model = keras_training.create_network()
    for first, last in ((0, 2), (2, 3)):
        model.fit(data, epochs=last, initial_epoch=first, shuffle=False, verbose=0)
    model.evaluate(data, verbose=0)
    epochs = [(epoch, position) for epoch in range(4) for position in range(NUM_BATCHES)]
    assert seen == [(0, 0), *epochs]  # Keras requests a batch to build the model


def test_fit_refuses_steps_per_epoch_that_differ_from_dataset(squares: Path) -> None:
    data, model = create_dataset(squares), keras_training.create_network()
    options: dict[str, Any] = {"shuffle": False, "verbose": 0, "callbacks": [data.callback()]}
    with pytest.raises(ValueError, match=f"expected {NUM_BATCHES}, got 2"):
        model.fit(data, epochs=3, steps_per_epoch=2, **options)
    assert data.state_dict() == create_dataset(squares).state_dict()
    model.fit(data, epochs=1, steps_per_epoch=2, **options)
    assert data.state_dict()["position"] == 2 * BATCH
    model.fit(data, epochs=2, steps_per_epoch=NUM_BATCHES, **options)
    assert data.state_dict()["epoch"] == 2


def test_fit_error_for_stream_object_names_batches_method(squares: Path) -> None:
    with batches(squares, "tfrecord", "hwc").loader() as loader:
        stream = rm.keras.Stream(loader, "image", "label")
        with pytest.raises(ValueError, match=r"pass stream.batches\(\) to fit"):
            keras_training.create_network().fit(stream, steps_per_epoch=1)


def test_validation_dataset_beside_stream_is_read_once_per_epoch(squares: Path) -> None:
    import keras

    validations: list[Any] = []

    def select(batch: dict[str, Any]) -> tuple[Any, Any]:
        if validations:
            validations[-1].append(batch["label"].tolist())
        return batch["image"], batch["label"]

    pipeline = batches(squares, "tfrecord", "hwc")
    with pipeline.loader() as loader:
        stream = rm.keras.Stream(loader, "image", "label")
        callback = keras.callbacks.LambdaCallback(on_test_begin=lambda logs: validations.append([]))
        options: dict[str, Any] = {"validation_data": rm.keras.PyDataset(pipeline, select), "callbacks": [callback]}
        steps = len(stream)
        keras_training.create_network().fit(
            stream.batches(), steps_per_epoch=steps, epochs=3, shuffle=False, verbose=0, **options
        )
    assert len(validations) == 3 and all(len(one) == NUM_BATCHES for one in validations)
    assert validations[0] == [batch["label"].tolist() for batch in pipeline]


def test_dataset_warns_about_keras_workers(squares: Path) -> None:
    for options in ({"workers": 2}, {"workers": 1, "use_multiprocessing": True}):
        with pytest.warns(UserWarning, match="recordmill.keras.Stream"):
            create_dataset(squares, **options)
    for options in ({"workers": 1}, {"workers": 0, "use_multiprocessing": True}):
        assert "PyDataset(open(" in repr(create_dataset(squares, **options))


@pytest.mark.parametrize(
    "family, form",
    [
        ("tfrecord", "dataset"),
        ("tfrecord", "stream"),
        ("ofrecord", "stream"),
        ("recordio", "dataset"),
        pytest.param("ofrecord", "dataset", marks=pytest.mark.campaign),
        pytest.param("recordio", "stream", marks=pytest.mark.campaign),
    ],
)
def test_resumed_training_reaches_same_weights(family: str, form: str, squares: Path) -> None:
    complete, resumed, losses = keras_training.train_twice(form, batches(squares, family, "hwc"))
    assert equal(resumed, complete) and losses[-1] < 0.7 * losses[0]


@pytest.mark.parametrize("form", ["dataset", pytest.param("stream", marks=pytest.mark.campaign)])
def test_resumed_training_on_torch_backend_reaches_same_weights(form: str, squares: Path) -> None:
    environment = {**os.environ, "KERAS_BACKEND": "torch", "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.run(
        [sys.executable, "-W", "ignore", str(keras_training.__file__), form, str(squares)],
        capture_output=True, text=True, check=False, env=environment, timeout=600,
    )  # fmt: skip
    assert process.returncode == 0, process.stderr[-3000:]
    assert json.loads(process.stdout) == {"backend": "torch", "is_same": True, "learns": True}


def test_fit_refuses_resumed_epoch_together_with_later_epochs(squares: Path) -> None:
    data = create_dataset(squares)
    with data.dataset.loader() as loader:
        data.load_state_dict(loader.state_after(1, 2))
    assert (data.epoch, len(data)) == (1, NUM_BATCHES - 2)
    with pytest.raises(RuntimeError, match=r"epochs=data.epoch \+ 1"):
        keras_training.create_network().fit(
            data, initial_epoch=1, epochs=3, shuffle=False, verbose=0, callbacks=[data.callback()]
        )


def test_load_state_dict_refuses_other_pipeline_or_position_inside_batch(squares: Path) -> None:
    data = create_dataset(squares)
    with pytest.raises(rm.StateError, match="another pipeline"):
        data.load_state_dict(create_dataset(squares, "ofrecord").state_dict())
    with samples(squares, "tfrecord", "hwc").batch(BATCH + 1).loader() as loader:
        state = loader.state_after(0, 1)
    with pytest.raises(rm.StateError, match="inside a batch"):
        data.load_state_dict(state)
    with data.dataset.loader() as loader:
        for _ in zip(range(3), loader, strict=False):
            pass
        data.load_state_dict(loader.state_dict())
    assert len(data) == NUM_BATCHES - 3 and data.state_dict()["position"] == 3 * BATCH


def test_stream_continues_from_epoch_to_epoch(squares: Path) -> None:
    pipeline = batches(squares, "recordio", "hwc")
    with pipeline.loader() as loader:
        stream = rm.keras.Stream(loader, lambda batch: (batch["image"], batch["label"]))
        taken = [pair for pair, _ in zip(stream.batches(), range(2 * len(stream) + 1), strict=False)]
    expected = [batch for epoch in range(3) for batch in pipeline.fetch(range(NUM_BATCHES), epoch=epoch)]
    assert equal(taken, [(batch["image"], batch["label"]) for batch in expected[: len(taken)]])
