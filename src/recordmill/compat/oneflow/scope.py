"""``oneflow.scope``: where the operations of older programs ran; here it is the processor."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from recordmill.compat.oneflow.absent import absent

__getattr__ = absent("flow.scope")


@contextlib.contextmanager
def placement(device_tag: str, machine_device_ids: Any = None, hierarchy: Any = None) -> Iterator[None]:
    """For ``with``: say that what is inside runs on the processor."""
    del machine_device_ids, hierarchy
    if device_tag != "cpu":
        raise NotImplementedError(
            f"flow.scope.placement({device_tag!r}) is not supported, only 'cpu': hand the arrays to your framework"
        )
    yield


def consistent_view() -> None:
    """Nothing: records are divided among processes by their parts."""


mirrored_view = consistent_view
