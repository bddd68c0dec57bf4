"""Methods of TensorFlow's data sets that are not here, and what to use instead."""

from __future__ import annotations

from typing import Any, NoReturn


class NotHere:
    """Stands for a method: asked for, it tells what to use instead."""

    def __init__(self, instead: str) -> None:
        self._instead = instead

    def __set_name__(self, owner: type, name: str) -> None:
        """Know one's name."""
        self._name = name

    def __get__(self, instance: Any, owner: type | None = None) -> NoReturn:
        """Refuse by name."""
        raise AttributeError(f"Dataset.{self._name} is not supported: {self._instead}", name=self._name, obj=instance)


class Refused:
    """What data sets lack."""

    sparse_batch = NotHere("use batch, which takes sparse tensors")
