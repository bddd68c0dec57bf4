"""Train a LeNet on digits with Keras on JAX, from batches that recordmill loads and decodes."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

import recordmill as rm

_SEED = 1
_LEARNING_RATE = 2e-3
_NUM_CLASSES = 10
_DIGIT = rm.Image(channels="gray", dtype="float32", layout="hwc")


@dataclass(slots=True)
class TrainingCurve:
    """Results of training: loss per step and per epoch, number of steps, number of digits, and accuracy."""

    losses: list[float] = field(default_factory=list)
    epoch_losses: list[float] = field(default_factory=list)
    num_steps: int = 0
    num_trained: int = 0
    num_held_out: int = 0
    accuracy: float = 0.0

    @property
    def has_lower_final_loss(self) -> bool:
        """True if the mean loss of the last epoch is smaller than the mean loss of the first epoch."""
        return self.epoch_losses[-1] < self.epoch_losses[0]


def import_keras() -> Any:
    """Import Keras with JAX as its backend; raise MissingExtraError if Keras already has another backend."""
    os.environ["KERAS_BACKEND"] = "jax"
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    import keras

    if keras.backend.backend() != "jax":
        hint = "run the demo in a process that has not imported Keras"
        raise rm.MissingExtraError(
            f"the demo requires Keras with the backend JAX, got {keras.backend.backend()}", hint=hint
        )
    return keras


class LeNet:
    """LeNet-5 with ReLU and max pooling for square gray images of `side` pixels; `reset` restores its initial weights.

    LeCun et al., Gradient-based learning applied to document recognition, 1998.
    """

    def __init__(self, side: int) -> None:
        keras = import_keras()
        keras.utils.set_random_seed(_SEED)
        layers = keras.layers
        self._model: Any = keras.Sequential(
            [
                keras.Input((side, side, 1)),
                layers.Conv2D(6, 5, activation="relu"),
                layers.MaxPooling2D(),
                layers.Conv2D(16, 5, activation="relu"),
                layers.MaxPooling2D(),
                layers.Flatten(),
                layers.Dense(120, activation="relu"),
                layers.Dense(84, activation="relu"),
                layers.Dense(_NUM_CLASSES),
            ]
        )
        optimizer = keras.optimizers.Adam(_LEARNING_RATE)
        self._model.compile(optimizer, keras.losses.SparseCategoricalCrossentropy(from_logits=True))
        optimizer.build(self._model.trainable_variables)
        self._variables = [*self._model.variables, *optimizer.variables]
        self._initial_values = [np.array(variable) for variable in self._variables]

    def reset(self) -> None:
        """Restore the initial weights and the initial state of the optimizer."""
        for variable, value in zip(self._variables, self._initial_values, strict=True):
            variable.assign(value)

    def train_step(self, pixels: NDArray[np.float32], labels: NDArray[np.int64]) -> float:
        """Train on one batch and return its loss."""
        # Without this reset, some versions of Keras return the mean loss of all batches so far.
        self._model.reset_metrics()
        return float(self._model.train_on_batch(pixels, labels))

    def classify(self, pixels: NDArray[np.float32]) -> NDArray[np.int64]:
        """Return the class of each image."""
        scores = np.asarray(self._model.predict_on_batch(pixels), np.float32)
        classes: NDArray[np.int64] = np.argmax(scores, axis=1)
        return classes


def train_network(network: LeNet, dataset: Any, image: str, label: str, *, epochs: int) -> TrainingCurve:
    """Train on about the first 6/7 of the batches, in order, and compute the accuracy on the remaining batches."""
    batch_size = 64 if len(dataset) >= 512 else 16
    loader = dataset.batch(batch_size, last="drop").loader(threads=2)
    num_held_out = max(1, len(loader) // 7)
    curve = TrainingCurve(num_steps=len(loader) - num_held_out)
    curve.num_trained, curve.num_held_out = curve.num_steps * batch_size, num_held_out * batch_size
    network.reset()
    num_correct = 0
    for epoch in range(epochs):
        for step, batch in enumerate(loader):
            batch = rm.decode_batch(batch, {image: _DIGIT})  # noqa: PLW2901
            pixels, labels = batch[image], np.asarray(batch[label]).astype(np.int64)
            if step < curve.num_steps:
                curve.losses.append(network.train_step(pixels, labels))
            elif epoch == epochs - 1:
                num_correct += int((network.classify(pixels) == labels).sum())
    curve.epoch_losses = np.array(curve.losses).reshape(epochs, curve.num_steps).mean(axis=1).tolist()
    curve.accuracy = num_correct / curve.num_held_out
    return curve
