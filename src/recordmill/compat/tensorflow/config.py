"""``tf.config``: the devices of the machine, which are its processors, and settings that change no result."""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

from recordmill.compat.tensorflow import config_optimizer as optimizer
from recordmill.compat.tensorflow.core.absent import missing

__all__ = [
    "PhysicalDevice",
    "enable_op_determinism",
    "experimental",
    "experimental_run_functions_eagerly",
    "functions_run_eagerly",
    "get_inter_op_parallelism_threads",
    "get_intra_op_parallelism_threads",
    "get_soft_device_placement",
    "get_visible_devices",
    "list_logical_devices",
    "list_physical_devices",
    "optimizer",
    "run_functions_eagerly",
    "set_inter_op_parallelism_threads",
    "set_intra_op_parallelism_threads",
    "set_memory_growth",
    "set_soft_device_placement",
    "set_visible_devices",
    "threading",
]
__getattr__ = missing(__name__)

experimental = threading = sys.modules[__name__]  # the same names stand there


def enable_op_determinism() -> None:
    """Nothing: what a seed gives is the same each time, whatever the threads do."""


def set_soft_device_placement(enabled: bool) -> None:
    """Nothing: there is one kind of device."""
    del enabled


def get_soft_device_placement() -> bool:
    """Whether work may go to another device; True."""
    return True


def experimental_run_functions_eagerly(run_eagerly: Any) -> None:
    """As `run_functions_eagerly`, by its older name."""
    run_functions_eagerly(run_eagerly)


class PhysicalDevice(NamedTuple):
    """A device; compared by name and kind."""

    name: str
    device_type: str


_DEVICES = [PhysicalDevice("/physical_device:CPU:0", "CPU")]


def list_physical_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """Devices of a kind; records and images are worked on by processors only."""
    return [one for one in _DEVICES if device_type in (None, one.device_type)]


get_visible_devices = list_logical_devices = list_physical_devices


def run_functions_eagerly(run_eagerly: Any) -> None:
    """Nothing: functions always run at once."""
    if not isinstance(run_eagerly, bool):
        raise TypeError(f"Expected a bool, got {run_eagerly!r}")


def functions_run_eagerly() -> bool:
    """Whether functions run at once."""
    return True


def set_memory_growth(device: Any, enable: bool) -> None:
    """Nothing: memory of graphics processors is not used."""
    del device, enable


def set_visible_devices(devices: Any, device_type: str | None = None) -> None:
    """Nothing, if the devices are there: processors are used, and others are none."""
    del device_type
    for one in [devices] if isinstance(devices, PhysicalDevice) else devices:
        if one not in _DEVICES:
            raise ValueError(f"Unrecognized device: {one!r}; there are {_DEVICES}")


def get_intra_op_parallelism_threads() -> int:
    """Threads of an operation; 0: the machine says."""
    return 0


def set_intra_op_parallelism_threads(num_threads: int) -> None:
    """Nothing: a hint that changes no result."""
    del num_threads


get_inter_op_parallelism_threads = get_intra_op_parallelism_threads
set_inter_op_parallelism_threads = set_intra_op_parallelism_threads
