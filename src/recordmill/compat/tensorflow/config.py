"""``tf.config``: lists the CPU as the only device; settings have no effect."""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

from recordmill.compat.tensorflow.core.absent import make_absent_getattr

__all__ = [
    "PhysicalDevice",
    "experimental",
    "get_visible_devices",
    "list_logical_devices",
    "list_physical_devices",
    "set_memory_growth",
    "set_visible_devices",
]
__getattr__ = make_absent_getattr(__name__)

experimental = sys.modules[__name__]


class PhysicalDevice(NamedTuple):
    """``tf.config.PhysicalDevice``: name and type of a device."""

    name: str
    device_type: str


_DEVICES = [PhysicalDevice("/physical_device:CPU:0", "CPU")]


def list_physical_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """``tf.config.list_physical_devices``: list the CPU; for any other device type, the list is empty."""
    return [device for device in _DEVICES if device_type in (None, device.device_type)]


get_visible_devices = list_logical_devices = list_physical_devices


def set_memory_growth(device: Any, enable: bool) -> None:
    """``tf.config.experimental.set_memory_growth``: do nothing."""
    del device, enable


def set_visible_devices(devices: Any, device_type: str | None = None) -> None:
    """``tf.config.set_visible_devices``: raise ValueError for an unknown device; known devices have no effect."""
    del device_type
    for device in [devices] if isinstance(devices, PhysicalDevice) else devices:
        if device not in _DEVICES:
            raise ValueError(f"devices must be in {_DEVICES}, got {device!r}")
