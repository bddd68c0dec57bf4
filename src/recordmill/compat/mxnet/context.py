"""``mx.Context``: device names, which have no effect because all arrays are in host memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True, slots=True)
class Context:
    """``mx.Context``: type and number of a device. A ``with`` statement that uses a Context has no effect."""

    device_type: str = "cpu"
    device_id: int = 0

    def __str__(self) -> str:
        return f"{self.device_type}({self.device_id})"

    __repr__ = __str__

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass


def cpu(device_id: int = 0) -> Context:
    """``mx.cpu``: return the context of host memory."""
    return Context("cpu", device_id)


def gpu(device_id: int = 0) -> Context:
    """``mx.gpu``: return the context of a GPU; arrays with this context stay in host memory."""
    return Context("gpu", device_id)


def num_gpus() -> int:
    """``mx.context.num_gpus``: return 0, because arrays are never stored on GPUs."""
    return 0
