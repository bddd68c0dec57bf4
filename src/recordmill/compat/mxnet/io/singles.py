"""Images one by one: what is decoded of each, and all of a batch side by side in threads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

import recordmill as rm
from recordmill.compat.mxnet.base import MXNetError

_WORDS: dict[int, Any] = {1: "grey", 3: "rgb", 4: "stored"}


def decoded(data: Any, channels: int) -> NDArray[np.uint8]:
    """Decode one image; it is upright, but for four channels."""
    orientation: Any = "ignore" if channels == 4 else "apply"
    pixels = rm.decode_image(data, like="mxnet", channels=_WORDS[channels], orientation=orientation, depth="8")
    if pixels.ndim == 2:
        pixels = pixels[:, :, None]
    if pixels.shape[2] != channels:
        raise MXNetError(f"Expected {channels} channels, got {pixels.shape[2]}", kind="channel_mismatch")
    return pixels


def make_each(make: Callable[[int], None], positions: Sequence[int] | NDArray[np.int64], threads: int) -> None:
    """Make all images of a batch, or some of them."""

    def named(number: int) -> None:
        try:
            make(number)
        except rm.RecordmillError as error:
            parts: dict[str, Any] = {"position": int(positions[number]), "feature": "data", "kind": error.kind}
            raise rm.DecodeError(error.message, cause=error, **parts) from error

    with ThreadPoolExecutor(threads, thread_name_prefix="recordmill-mxnet") as pool:
        for _ in pool.map(named, range(len(positions))):
            pass
