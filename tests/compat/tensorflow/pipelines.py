"""Run a pipeline natively and element by element, and compare the two."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np

import recordmill.compat.tensorflow as tf
from recordmill.compat.tensorflow.data.elements import ExecutionOptions, FailedElement
from recordmill.compat.tensorflow.data.structures import leaves


def run(dataset: Any, *, native: bool = True) -> list[Any]:
    """Return all elements and errors of a finite dataset."""
    return list(dataset.node.iterate(ExecutionOptions(native=native)))


def encode(shape: tuple[int, ...], kind: str, seed: int = 0) -> bytes:
    """Return a random image as a file."""
    from PIL import Image

    pixels = np.random.default_rng(seed).integers(0, 256, shape, np.uint8)
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, kind)
    return file.getvalue()


def describe(step: Any) -> Any:
    """Return dtypes, shapes and values of an element, or the type and text of its error."""
    if isinstance(step, FailedElement):
        return type(step.error), str(step.error)
    parts = [
        one
        for leaf in leaves(step.value)
        for one in ((leaf.indices, leaf.values, leaf.dense_shape) if hasattr(leaf, "dense_shape") else (leaf,))
    ]
    return [(one.dtype, one.shape.as_list(), np.asarray(one.numpy()).tolist()) for one in parts]


def check_equal(make: Callable[[], Any]) -> None:
    """Check that a pipeline gives the same in both ways, up to the first error."""
    found = []
    for native in (True, False):
        tf.random.set_seed(7)
        found.append(run(make(), native=native))
    whole, single = found
    assert len(whole) == len(single) or any(isinstance(step, FailedElement) for step in whole + single)
    for one, other in zip(whole, single, strict=False):
        if isinstance(one, FailedElement) or isinstance(other, FailedElement):
            break  # nodes between a map and its batch meet an error earlier in one way than in the other
        for array, expected in zip(leaves(one.value), leaves(other.value), strict=True):
            assert array.dtype == expected.dtype
            np.testing.assert_array_equal(array.numpy(), expected.numpy())
