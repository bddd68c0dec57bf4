"""A small Keras network, trained with and without an interruption.

As a program: python keras_training.py FORM FOLDER.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

import recordmill as rm
from tests.adapters.squares import NUM_BATCHES, NUM_CLASSES, batches

EPOCHS = 6
STOP = (2, 3)  # epoch of the interruption, and number of its batches before it
FORMS = ("dataset", "stream")


def create_network() -> Any:
    """Return a network with the same initial weights each time."""
    import keras

    keras.utils.set_random_seed(1)
    layers = keras.layers
    model = keras.Sequential(
        [keras.Input((8, 8, 1)), layers.Conv2D(4, 3, activation="relu"), layers.Flatten(), layers.Dense(NUM_CLASSES)]
    )
    model.compile(keras.optimizers.Adam(0.01), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    return model


def create_stop_callback() -> Any:
    """Return a callback that stops in the middle of an epoch."""
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


def save_checkpoint(model: Any) -> list[Any]:
    """Return the variables of the model and its optimizer."""
    import keras

    return [keras.ops.convert_to_numpy(variable.value) for variable in [*model.variables, *model.optimizer.variables]]


def load_checkpoint(saved: list[Any]) -> Any:
    """Return a network with the variables of a checkpoint."""
    model = create_network()
    model.optimizer.build(model.trainable_variables)
    for variable, value in zip([*model.variables, *model.optimizer.variables], saved, strict=True):
        variable.assign(value)
    return model


def train_twice(form: str, pipeline: rm.Dataset) -> tuple[list[Any], list[Any], list[float]]:
    """Train without and with an interruption; return both final weights, and the losses without interruption."""
    return _train_on_dataset(pipeline) if form == "dataset" else _train_on_stream(pipeline)


def _train_on_dataset(pipeline: rm.Dataset) -> tuple[list[Any], list[Any], list[float]]:
    data = [rm.keras.PyDataset(pipeline, "image", "label") for _ in range(3)]

    def fit(model: Any, one: Any, *callbacks: Any, **options: Any) -> Any:
        return model.fit(one, shuffle=False, verbose=0, callbacks=[one.callback(), *callbacks], **options)

    complete, first = create_network(), create_network()
    losses = fit(complete, data[0], epochs=EPOCHS).history["loss"]
    fit(first, data[1], create_stop_callback(), epochs=EPOCHS)
    second = load_checkpoint(save_checkpoint(first))
    data[2].load_state_dict(json.loads(json.dumps(data[1].state_dict())))
    assert (data[2].epoch, len(data[2])) == (STOP[0], NUM_BATCHES - STOP[1])
    fit(second, data[2], initial_epoch=STOP[0], epochs=STOP[0] + 1)
    fit(second, data[2], initial_epoch=STOP[0] + 1, epochs=EPOCHS)
    return complete.get_weights(), second.get_weights(), losses


def _train_on_stream(pipeline: rm.Dataset) -> tuple[list[Any], list[Any], list[float]]:
    streams = [rm.keras.Stream(pipeline.loader(), "image", "label") for _ in range(3)]

    def fit(model: Any, one: Any, steps: int, *callbacks: Any, **options: Any) -> Any:
        callbacks = (one.callback(), *callbacks)
        return model.fit(
            one.batches(), steps_per_epoch=steps, shuffle=False, verbose=0, callbacks=list(callbacks), **options
        )

    complete, first = create_network(), create_network()
    losses = fit(complete, streams[0], len(streams[0]), epochs=EPOCHS).history["loss"]
    fit(first, streams[1], len(streams[1]), create_stop_callback(), epochs=EPOCHS)
    second = load_checkpoint(save_checkpoint(first))
    streams[2].load_state_dict(json.loads(json.dumps(streams[1].state_dict())))
    fit(second, streams[2], NUM_BATCHES - STOP[1], epochs=1)
    fit(second, streams[2], NUM_BATCHES, initial_epoch=STOP[0] + 1, epochs=EPOCHS)
    for stream in streams:
        stream.close()
    return complete.get_weights(), second.get_weights(), losses


def main() -> None:
    """Train with the backend of the environment and print whether the final weights are equal."""
    import keras

    form, folder = sys.argv[1:]
    complete, resumed, losses = train_twice(form, batches(Path(folder), "tfrecord", "hwc"))
    is_same = all(np.array_equal(one, two) for one, two in zip(complete, resumed, strict=True))
    print(json.dumps({"backend": keras.backend.backend(), "is_same": is_same, "learns": losses[-1] < 0.7 * losses[0]}))


if __name__ == "__main__":
    main()
