"""Devices by MXNet's names; arrays here live in the memory of the host, whatever they say."""

from __future__ import annotations

from typing import Self

from recordmill.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Context:
    """A device: its kind and number."""

    device_type: str = "cpu"
    device_id: int = 0

    def __str__(self) -> str:
        """As MXNet prints it."""
        return f"{self.device_type}({self.device_id})"

    __repr__ = __str__

    def __enter__(self) -> Self:
        """Return the device; arrays lie in the memory of the host all the same."""
        return self

    def __exit__(self, *_: object) -> None:
        """Do nothing."""


def cpu(device_id: int = 0) -> Context:
    """Host memory."""
    return Context("cpu", device_id)


def cpu_pinned(device_id: int = 0) -> Context:
    """Host memory that is not paged; here as `cpu`."""
    return Context("cpu_pinned", device_id)


def gpu(device_id: int = 0) -> Context:
    """A device's name to be passed on; no array is moved to it."""
    return Context("gpu", device_id)


def current_context() -> Context:
    """Host memory."""
    return cpu()


def num_gpus() -> int:
    """Devices that arrays can be moved to: none."""
    return 0
