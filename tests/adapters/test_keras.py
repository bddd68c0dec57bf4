"""Keras learns from each family, on JAX here and on PyTorch in a process of its own, and goes on where it stopped."""

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
from tests.adapters import fitting
from tests.adapters.conftest import QUIET, same
from tests.adapters.digits import BATCH, FAMILIES, NUM_BATCHES, batches, samples

os.environ.setdefault("KERAS_BACKEND", "jax")
pytestmark = [pytest.mark.deep, *QUIET]


def dataset_of(folder: Path, family: str = "tfrecord", **options: Any) -> Any:
    return rm.keras.PyDataset(batches(folder, family, "hwc"), "image", "label", **options)


def test_dataset_when_indexed_then_gives_inputs_and_targets(squares: Path) -> None:
    import keras

    data, expected = dataset_of(squares), batches(squares, "tfrecord", "hwc")[2]
    assert isinstance(data, keras.utils.PyDataset) and len(data) == NUM_BATCHES
    assert same(data[2], (expected["image"], expected["label"]))
    with pytest.raises(IndexError):
        data[NUM_BATCHES]


def test_dataset_when_padded_then_weighs_by_validity(squares: Path) -> None:
    data = rm.keras.PyDataset(samples(squares, "tfrecord").batch(BATCH, last="pad"), "image", "label", "valid")
    _, _, weight = data[len(data) - 1]
    assert weight.dtype == np.float32 and weight.sum() == 90 % BATCH


def test_dataset_when_pickled_then_gives_the_same(squares: Path) -> None:
    with pytest.warns(UserWarning, match="Keras 3 trains twice"):
        data = dataset_of(squares, "ofrecord", workers=2)
    data.set_epoch(3)
    copy = pickle.loads(pickle.dumps(data))
    assert (copy.epoch, copy.workers) == (3, 2) and same(copy[1], data[1])


def test_dataset_when_made_of_samples_then_is_refused(squares: Path) -> None:
    with pytest.raises(ValueError, match=r"batch\(n\)"):
        rm.keras.PyDataset(samples(squares, "tfrecord"), "image")


def test_epochs_when_fit_runs_them_then_are_those_of_the_pipeline(squares: Path) -> None:
    data, seen = dataset_of(squares), []
    read = data.dataset.fetch

    class Watching:
        def fetch(self, positions: list[int], epoch: int) -> Any:
            seen.append((epoch, positions[0]))
            return read(positions, epoch=epoch)

    data.dataset = Watching()
    model = fitting.network()
    for first, last in ((0, 2), (2, 3)):
        model.fit(data, epochs=last, initial_epoch=first, shuffle=False, verbose=0)
    model.evaluate(data, verbose=0)
    runs = [(epoch, place) for epoch in range(4) for place in range(NUM_BATCHES)]
    assert seen == [(0, 0), *runs]  # Keras looks at a batch to build the loss


def test_epochs_when_fit_cuts_them_otherwise_then_are_refused_before_training(squares: Path) -> None:
    data, model = dataset_of(squares), fitting.network()
    options: dict[str, Any] = {"shuffle": False, "verbose": 0, "callbacks": [data.callback()]}
    with pytest.raises(ValueError, match=f"steps_per_epoch=2, but an epoch of these data has {NUM_BATCHES} batches"):
        model.fit(data, epochs=3, steps_per_epoch=2, **options)
    assert data.state_dict() == dataset_of(squares).state_dict()
    model.fit(data, epochs=1, steps_per_epoch=2, **options)
    assert data.state_dict()["position"] == 2 * BATCH
    model.fit(data, epochs=2, steps_per_epoch=NUM_BATCHES, **options)
    assert data.state_dict()["epoch"] == 2


def test_stream_when_given_itself_then_the_error_tells_what_fit_takes(squares: Path) -> None:
    with batches(squares, "tfrecord", "hwc").loader() as loader:
        stream = rm.keras.Stream(loader, "image", "label")
        with pytest.raises(ValueError, match=r"of which fit takes stream.batches\(\)"):
            fitting.network().fit(stream, steps_per_epoch=1)


def test_validation_when_a_stream_is_trained_on_then_sees_each_batch_once(squares: Path) -> None:
    import keras

    told: list[Any] = []

    def choose(batch: dict[str, Any]) -> tuple[Any, Any]:
        if told:
            told[-1].append(batch["label"].tolist())
        return batch["image"], batch["label"]

    pipeline = batches(squares, "tfrecord", "hwc")
    with pipeline.loader() as loader:
        stream = rm.keras.Stream(loader, "image", "label")
        begins = keras.callbacks.LambdaCallback(on_test_begin=lambda logs: told.append([]))
        given: dict[str, Any] = {"validation_data": rm.keras.PyDataset(pipeline, choose), "callbacks": [begins]}
        steps = len(stream)
        fitting.network().fit(stream.batches(), steps_per_epoch=steps, epochs=3, shuffle=False, verbose=0, **given)
    assert len(told) == 3 and all(len(one) == NUM_BATCHES for one in told)
    assert told[0] == [batch["label"].tolist() for batch in pipeline]


def test_workers_of_keras_when_asked_for_then_there_is_a_warning(squares: Path) -> None:
    for options in ({"workers": 2}, {"workers": 1, "use_multiprocessing": True}):
        with pytest.warns(UserWarning, match="recordmill.keras.Stream"):
            dataset_of(squares, **options)
    for options in ({"workers": 1}, {"workers": 0, "use_multiprocessing": True}):
        assert "PyDataset(open(" in repr(dataset_of(squares, **options))


@pytest.mark.parametrize("form", fitting.FORMS)
@pytest.mark.parametrize("family", FAMILIES)
def test_network_when_interrupted_in_an_epoch_then_learns_the_same_weights(
    family: str, form: str, squares: Path
) -> None:
    whole, resumed, losses = fitting.compared(form, batches(squares, family, "hwc"))
    assert same(resumed, whole) and losses[-1] < 0.7 * losses[0]


@pytest.mark.parametrize("form", fitting.FORMS)
def test_network_on_torch_when_interrupted_in_an_epoch_then_learns_the_same_weights(form: str, squares: Path) -> None:
    environment = {**os.environ, "KERAS_BACKEND": "torch", "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(fitting.__file__), form, str(squares)],
        capture_output=True, text=True, check=False, env=environment, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    assert json.loads(done.stdout) == {"backend": "torch", "is_same": True, "learns": True}


def test_rest_of_an_epoch_when_fitted_together_with_others_then_is_refused(squares: Path) -> None:
    data = dataset_of(squares)
    data.load_state_dict(data.state_dict() | {"epoch": 1, "position": 2 * BATCH})
    assert (data.epoch, len(data)) == (1, NUM_BATCHES - 2)
    with pytest.raises(RuntimeError, match=r"epochs=data.epoch \+ 1"):
        fitting.network().fit(data, initial_epoch=1, epochs=3, shuffle=False, verbose=0, callbacks=[data.callback()])


def test_state_when_of_another_pipeline_or_between_batches_then_is_refused(squares: Path) -> None:
    data = dataset_of(squares)
    with pytest.raises(rm.StateError, match="another pipeline"):
        data.load_state_dict(dataset_of(squares, "ofrecord").state_dict())
    with pytest.raises(rm.StateError, match="between the batches"):
        data.load_state_dict(data.state_dict() | {"position": BATCH + 1})
    with data.dataset.loader() as loader:
        for _ in zip(range(3), loader, strict=False):
            pass
        data.load_state_dict(loader.state_dict())
    assert len(data) == NUM_BATCHES - 3 and data.state_dict()["position"] == 3 * BATCH


def test_stream_when_iterated_then_goes_on_from_epoch_to_epoch(squares: Path) -> None:
    pipeline = batches(squares, "recordio", "hwc")
    with pipeline.loader() as loader:
        stream = rm.keras.Stream(loader, lambda batch: (batch["image"], batch["label"]))
        taken = [pair for pair, _ in zip(stream.batches(), range(2 * len(stream) + 1), strict=False)]
    expected = [batch for epoch in range(3) for batch in pipeline.fetch(range(NUM_BATCHES), epoch=epoch)]
    assert same(taken, [(batch["image"], batch["label"]) for batch in expected[: len(taken)]])
