"""A small Keras network, trained at one go and with an interruption; as a program: python fitting.py FORM FOLDER."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

import recordmill as rm
from tests.adapters.digits import NUM_BATCHES, NUM_KINDS, batches

EPOCHS = 6
STOP = (2, 3)  # epoch, and batches of it that are trained on
FORMS = ("dataset", "stream")


def network() -> Any:
    """Make the same network every time."""
    import keras

    keras.utils.set_random_seed(1)
    layers = keras.layers
    model = keras.Sequential(
        [keras.Input((8, 8, 1)), layers.Conv2D(4, 3, activation="relu"), layers.Flatten(), layers.Dense(NUM_KINDS)]
    )
    model.compile(keras.optimizers.Adam(0.01), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    return model


def stopper() -> Any:
    """Make a callback that stops in the middle of an epoch."""
    import keras

    class Stop(keras.callbacks.Callback):
        def __init__(self) -> None:
            super().__init__()
            self.epoch = 0

        def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
            self.epoch = epoch

        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
            if (self.epoch, batch + 1) == STOP:
                self.model.stop_training = True

    return Stop()


def checkpoint(model: Any) -> list[Any]:
    """Weights of the model and what its optimizer remembers."""
    import keras

    return [keras.ops.convert_to_numpy(variable.value) for variable in [*model.variables, *model.optimizer.variables]]


def restored(saved: list[Any]) -> Any:
    """Make a network that goes on from a checkpoint."""
    model = network()
    model.optimizer.build(model.trainable_variables)
    for variable, value in zip([*model.variables, *model.optimizer.variables], saved, strict=True):
        variable.assign(value)
    return model


def compared(form: str, pipeline: rm.Dataset) -> tuple[list[Any], list[Any], list[float]]:
    """Train at one go, and with an interruption; return both weights, and the losses of the first."""
    return by_dataset(pipeline) if form == "dataset" else by_stream(pipeline)


def by_dataset(pipeline: rm.Dataset) -> tuple[list[Any], list[Any], list[float]]:
    data = [rm.keras.PyDataset(pipeline, "image", "label") for _ in range(3)]

    def fit(model: Any, one: Any, *callbacks: Any, **options: Any) -> Any:
        return model.fit(one, shuffle=False, verbose=0, callbacks=[one.callback(), *callbacks], **options)

    whole, first = network(), network()
    losses = fit(whole, data[0], epochs=EPOCHS).history["loss"]
    fit(first, data[1], stopper(), epochs=EPOCHS)
    second = restored(checkpoint(first))
    data[2].load_state_dict(json.loads(json.dumps(data[1].state_dict())))
    assert (data[2].epoch, len(data[2])) == (STOP[0], NUM_BATCHES - STOP[1])
    fit(second, data[2], initial_epoch=STOP[0], epochs=STOP[0] + 1)
    fit(second, data[2], initial_epoch=STOP[0] + 1, epochs=EPOCHS)
    return whole.get_weights(), second.get_weights(), losses


def by_stream(pipeline: rm.Dataset) -> tuple[list[Any], list[Any], list[float]]:
    streams = [rm.keras.Stream(pipeline.loader(), "image", "label") for _ in range(3)]

    def fit(model: Any, one: Any, steps: int, *callbacks: Any, **options: Any) -> Any:
        given = [one.callback(), *callbacks]
        return model.fit(one.batches(), steps_per_epoch=steps, shuffle=False, verbose=0, callbacks=given, **options)

    whole, first = network(), network()
    losses = fit(whole, streams[0], len(streams[0]), epochs=EPOCHS).history["loss"]
    fit(first, streams[1], len(streams[1]), stopper(), epochs=EPOCHS)
    second = restored(checkpoint(first))
    streams[2].load_state_dict(json.loads(json.dumps(streams[1].state_dict())))
    fit(second, streams[2], NUM_BATCHES - STOP[1], epochs=1)
    fit(second, streams[2], NUM_BATCHES, initial_epoch=STOP[0] + 1, epochs=EPOCHS)
    for stream in streams:
        stream.close()
    return whole.get_weights(), second.get_weights(), losses


def main() -> None:
    """Train with the backend of the environment and print whether it came out equal."""
    import keras

    form, folder = sys.argv[1:]
    whole, resumed, losses = compared(form, batches(Path(folder), "tfrecord", "hwc"))
    is_same = all(np.array_equal(one, two) for one, two in zip(whole, resumed, strict=True))
    print(json.dumps({"backend": keras.backend.backend(), "is_same": is_same, "learns": losses[-1] < 0.7 * losses[0]}))


if __name__ == "__main__":
    main()
