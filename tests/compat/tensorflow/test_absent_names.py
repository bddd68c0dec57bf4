"""Names that TensorFlow has and this package has not are told apart from names that nobody has."""

from __future__ import annotations

import functools
from typing import Any

import pytest

import recordmill.compat.tensorflow as tf
from recordmill.compat.tensorflow.core.elsewhere import INSTEAD, NAMES
from recordmill.compat.tensorflow.core.older_elsewhere import OLDER_INSTEAD, OLDER_NAMES


def face_of(place: str) -> Any:
    return functools.reduce(getattr, filter(None, place.split(".")), tf)


@pytest.mark.parametrize("place, names", [*NAMES.items(), *OLDER_NAMES.items()])
def test_names_when_they_are_only_tensorflows_then_say_what_to_use(place: str, names: str) -> None:
    face, called = face_of(place), f"tf.{place}." if place else "tf."
    for name in names.split():
        with pytest.raises(AttributeError) as caught:
            getattr(face, name)
        told = str(caught.value)
        assert " is not supported: " in told and name in told and told.startswith("tf."), (called, told)


@pytest.mark.parametrize(
    "place", ["", "config", "data.experimental", "errors", "gfile", "io.gfile", "logging", "lookup", "sparse", "test"]
)
def test_names_when_nobody_has_them_then_are_typos(place: str) -> None:
    face = face_of(place)
    with pytest.raises(AttributeError, match=r"has no attribute 'nothing'; the migration page lists") as caught:
        _ = face.nothing
    assert caught.value.name == "nothing" and caught.value.obj is face  # by which Python suggests names


def test_hints_when_given_then_are_those_of_a_module_or_a_name() -> None:
    names = {f"{place}.{name}".lstrip(".") for place, found in NAMES.items() for name in found.split()}
    assert {*INSTEAD} <= names | {*NAMES}
    with pytest.raises(AttributeError, match=r"tf\.GradientTape is not supported: train with Keras"):
        _ = tf.GradientTape
    with pytest.raises(AttributeError, match=r"tf\.compat\.v1\.get_variable is not supported: of graphs there is"):
        _ = tf.compat.v1.get_variable
    with pytest.raises(AttributeError, match=r"tf\.contrib\.slim is not supported: read the files with tf\.data"):
        _ = tf.contrib.slim
    older = {f"{place}.{name}".lstrip(".") for place, found in OLDER_NAMES.items() for name in found.split()}
    assert {*OLDER_INSTEAD} <= older | {*OLDER_NAMES}
    with pytest.raises(AttributeError, match=r"tf\.config\.experimental\.get_memory_info|tf\.config\.get_memory_info"):
        _ = tf.config.experimental.get_memory_info
