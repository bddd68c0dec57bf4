"""Errors for wrong arguments and names suggest the right ones."""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import recordmill as rm

FUNCTIONS = [name for name in rm.__all__ if inspect.isfunction(getattr(rm, name))]
METHODS = ["batch", "filter", "loader", "map", "shard", "shuffle"]


@pytest.fixture
def dataset(tmp_path: Path) -> rm.Dataset:
    path = tmp_path / "some.tfrecord"
    with rm.ShardWriter(path) as writer:
        for label in range(8):
            writer.write({"label": label})
    return rm.open(path)


def keywords(function: Callable[..., Any]) -> list[str]:
    parameters = inspect.signature(function).parameters.items()
    return [name for name, parameter in parameters if parameter.kind.name in ("KEYWORD_ONLY", "POSITIONAL_OR_KEYWORD")]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_misspelled_argument_of_public_function_is_named_with_the_right_one(name: str) -> None:
    function = getattr(rm, name)
    right = keywords(function)[-1]
    with pytest.raises(TypeError, match=rf"unexpected keyword argument '{right}z'; did you mean '{right}'\?"):
        function(**{right + "z": 1})


@pytest.mark.parametrize("name", METHODS)
def test_misspelled_argument_of_dataset_method_is_named_with_the_right_one(dataset: rm.Dataset, name: str) -> None:
    method = getattr(dataset, name)
    right = keywords(method)[-1]
    with pytest.raises(TypeError, match=rf"did you mean '{right}'"):
        method(**{right + "z": 1})


@pytest.mark.parametrize("name", ["Image", "Resize", "ImageFolder", "Table", "Feature", "ShardReader", "ShardWriter"])
def test_misspelled_argument_of_constructor_is_named_with_the_right_one(name: str) -> None:
    cls = getattr(rm, name)
    right = keywords(cls)[-1]
    with pytest.raises(TypeError, match=rf"{name}\(\) got .* did you mean '{right}'"):
        cls(**{right + "z": 1})


@pytest.mark.parametrize(
    "call, hint",
    [
        (lambda some: some.batch(2, drop_last=True), 'use last="drop"'),
        (lambda some: some.batch(2, drop_remainder=True), 'use last="drop"'),
        (lambda some: some.loader(num_workers=2), "use threads="),
        (lambda some: rm.pack("photos", "out/train", num_workers=2), "use workers="),
        (lambda some: some.shuffle(buffer_size=1000), "without a buffer, or window="),
        (lambda some: some.shuffle(1000), r"use shuffle\(seed=1000\) for a seed, or shuffle\(window=1000\)"),
    ],
)
def test_argument_of_other_library_is_answered_with_its_equivalent(
    dataset: rm.Dataset, call: Callable[[rm.Dataset], Any], hint: str
) -> None:
    with pytest.raises(TypeError, match=hint):
        call(dataset)


def test_type_error_inside_a_function_keeps_its_message(dataset: rm.Dataset) -> None:
    with pytest.raises(TypeError, match="paths must be a path"):
        rm.open(3)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'size'"):
        dataset.batch()


def test_public_functions_can_be_pickled_and_have_their_own_signature() -> None:
    assert pickle.loads(pickle.dumps(rm.open)) is rm.open
    assert list(inspect.signature(rm.open).parameters)[:2] == ["paths", "format"]


def test_misspelled_public_name_is_answered_with_the_right_one() -> None:
    with pytest.raises(AttributeError, match="no attribute 'opne'; did you mean 'open'"):
        getattr(rm, "opne")  # noqa: B009 (an unknown name)


def test_dir_lists_public_names_only() -> None:
    assert set(dir(rm)) == {*rm.__all__, "jax", "keras", "ray", "torch", "__version__"}


def test_misspelled_names_of_frameworks_are_answered_with_the_right_ones() -> None:
    import recordmill.compat.mxnet as mx
    import recordmill.compat.oneflow as flow
    import recordmill.compat.tensorflow as tf

    for namespace, wrong, right in (
        (tf.data, "TFRecordDatset", "TFRecordDataset"),
        (mx, "recordoi", "recordio"),
        (flow.data, "ofrecord_raeder", "ofrecord_reader"),
        (flow.nn, "OFRecordReder", "OFRecordReader"),
    ):
        with pytest.raises(AttributeError, match=f"did you mean '{right}'"):
            getattr(namespace, wrong)
