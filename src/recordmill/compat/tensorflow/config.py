"""``tf.config``: the devices of the machine, which are its processors, and settings that change no result."""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

__all__ = [
    "PhysicalDevice",
    "experimental",
    "functions_run_eagerly",
    "get_visible_devices",
    "list_logical_devices",
    "list_physical_devices",
    "run_functions_eagerly",
]

experimental = sys.modules[__name__]  # the same names stand there


class PhysicalDevice(NamedTuple):
    """A device; compared by name and kind."""

    name: str
    device_type: str


_DEVICES = [PhysicalDevice("/physical_device:CPU:0", "CPU")]


def list_physical_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """Devices of a kind; records and images are worked on by processors only.

    Parameters
    ----------
    device_type : str, optional
        Such as ``"GPU"``; all kinds unless given.

    Returns
    -------
    list of PhysicalDevice
    """
    return [one for one in _DEVICES if device_type in (None, one.device_type)]


get_visible_devices = list_logical_devices = list_physical_devices


def run_functions_eagerly(run_eagerly: Any) -> None:
    """Nothing: functions always run at once.

    Parameters
    ----------
    run_eagerly : bool

    Raises
    ------
    TypeError
        Anything but a truth value.
    """
    if not isinstance(run_eagerly, bool):
        raise TypeError(f"Expected a bool, got {run_eagerly!r}")


def functions_run_eagerly() -> bool:
    """Whether functions run at once.

    Returns
    -------
    bool
        True.
    """
    return True
