"""``oneflow.config``: settings at the top of older programs, none of which changes what is read."""

from __future__ import annotations

from recordmill.compat.oneflow.absent import absent

__getattr__ = absent("flow.config")


def gpu_device_num(val: int) -> None:
    """Nothing: records are read on the processor, and handed over from there."""


def cpu_device_num(val: int) -> None:
    """Nothing: all processors are used."""


def enable_debug_mode(val: bool) -> None:
    """Nothing: errors say where they are from anyway."""
