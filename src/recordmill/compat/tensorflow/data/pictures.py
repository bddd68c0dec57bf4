"""A decoder and the resize behind it, as one native call for a batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

import recordmill as rm
from recordmill.compat.tensorflow.core.tensor import array_of
from recordmill.compat.tensorflow.data.chains import begins
from recordmill.compat.tensorflow.data.recorded import Recorded, recorded_in
from recordmill.compat.tensorflow.data.recording import Call
from recordmill.compat.tensorflow.data.records import Column
from recordmill.compat.tensorflow.data.rules import Whole, WholeRows
from recordmill.compat.tensorflow.data.stacking import join

_KERNELS = ("area", "bilinear", "nearest")
_ANTIALIASED = ("bilinear",)
_DECODERS = ("io.decode_jpeg", "io.decode_png", "io.decode_image")
# What may stand behind a decoder.
_BEHIND = ((), ("image.resize",), ("image.convert_image_dtype", "image.resize"))
_DCT = {"": "fast", "INTEGER_FAST": "fast", "INTEGER_ACCURATE": "accurate"}
_CHANNELS: dict[Any, Any] = {0: "stored", None: "stored", 1: 1, 3: 3}
_JPEG, _PNG = b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n"
# Where a PNG tells the bits of a sample, and bytes in which it is to have told what is transparent.
_DEPTH, _HEAD = 24, 1200
# Bands of images of several sizes in a row, behind which no more are looked at.
_TRIES = 3


class Picture:
    """Encoded images decoded, and brought to one size unless they have it."""

    def __init__(self, calls: Sequence[Call], image: rm.Image) -> None:
        self.calls, self.image, self._tries = tuple(calls), image, _TRIES
        given = _arguments(calls[0], _NAMES.get(calls[0].name, _OTHER_NAMES))
        self._contents: int = given["contents"].number
        self._window: int | None = given["crop_window"].number if _has_window(calls[0]) else None

    @property
    def output(self) -> int:
        """Number of the value that it gives."""
        return self.calls[-1].outputs[0][0]

    @property
    def way(self) -> str:
        """What it does, in words."""
        return f"images {'decoded and resized' if self.resizes else 'of one size decoded'} together"

    @property
    def resizes(self) -> bool:
        """Whether it brings images to one size."""
        return self.image.resize is not None or self._window is not None

    @property
    def inputs(self) -> frozenset[int]:
        """Number of the value that it takes."""
        return self.calls[0].inputs

    @property
    def makes(self) -> frozenset[int]:
        """Number of the value that it gives."""
        return self.calls[-1].makes

    def run(self, known: Mapping[int, Column], room: Callable[[tuple[int, ...], Any], NDArray[Any]]) -> Whole | None:
        """Decode and resize."""
        rows = _files_of(known[self._contents])
        if not self._takes(rows):
            return None
        data: Any = rows
        if self._window is not None:
            windows = _numbers_of(known[self._window])
            if windows.shape != (len(rows), 4):
                return None
            data = {"image": rows, "window": windows[:, [1, 0, 3, 2]]}
        return Whole(rm.decode_batch(data, {"image": self.image}, empty=room)["image"])

    def _takes(self, rows: list[bytes] | rm.Ragged) -> bool:
        """Whether the native call knows all of these files: JPEG, and PNG of 8 bits a sample at its size."""
        if not self.resizes and (len(rows) < 2 or not self._tries):
            return False
        return all(map(self._knows, _heads(rows))) and (self.resizes or self._are_even(rows))

    def _knows(self, head: bytes) -> bool:
        if head[:3] == _JPEG:
            return True
        is_png = self.image.reduce == 1 and head[:8] == _PNG and head[_DEPTH : _DEPTH + 1] == b"\x08"
        # Of grey and of colours in which one stands for transparent, the decoder makes nothing transparent.
        return is_png and (self.image.channels != "stored" or (b"IDAT" in head and b"tRNS" not in head))

    def _are_even(self, rows: list[bytes] | rm.Ragged) -> bool:
        """Whether images have one size; where they hardly ever do, it is not asked for ever."""
        sizes = rm.image_sizes(rows, like="tensorflow")
        found = bool((sizes == sizes[:1]).all() and sizes.all())
        self._tries = _TRIES if found else self._tries - 1
        return found


def _files_of(column: Column) -> rm.Ragged | list[bytes]:
    rows = column.tensor.rows if isinstance(column, WholeRows) else None
    if rows is not None:
        return rows
    return bytes_of(column.array if isinstance(column, Whole) else join([one.values for one in column]))


def _numbers_of(column: Column) -> NDArray[Any]:
    return column.array if isinstance(column, Whole) else np.stack([one.values for one in column])


def _heads(rows: list[bytes] | rm.Ragged) -> Iterator[bytes]:
    """First bytes of each file."""
    if isinstance(rows, list):
        return (row[:_HEAD] for row in rows)
    data, splits = memoryview(rows.data), rows.row_splits.tolist()
    return (bytes(data[start : min(start + _HEAD, stop)]) for start, stop in pairwise(splits))


_DECODE_NAMES = (
    *("contents", "channels", "ratio", "fancy_upscaling", "try_recover_truncated", "acceptable_fraction"),
    "dct_method",
)
_CROP_NAMES = ("contents", "crop_window", *_DECODE_NAMES[1:])
_CROPPER = "io.decode_and_crop_jpeg"
_NAMES = {"io.decode_jpeg": _DECODE_NAMES, _CROPPER: _CROP_NAMES}
# What is no constant.
_VALUES = frozenset({"contents", "crop_window", "images"})
_OTHER_NAMES = ("contents", "channels", "dtype", "expand_animations")
_RESIZE_NAMES = ("images", "size", "method", "preserve_aspect_ratio", "antialias")


def _arguments(call: Call, names: tuple[str, ...]) -> dict[str, Any]:
    return dict(zip(names, call.args, strict=False)) | call.kwargs


def picture_of(calls: Sequence[Call]) -> Picture | None:
    """Plan of a decoder, what makes floats of its levels, and a resize."""
    decode, *rest = calls
    has_window = bool(rest) and _has_window(decode)
    if not (has_window or decode.name in _DECODERS) or tuple(call.name for call in rest) not in _BEHIND:
        return None
    given = _arguments(decode, _NAMES.get(decode.name, _OTHER_NAMES))
    options = _arguments(rest[-1], _RESIZE_NAMES) if rest else {}
    constant = [value for name, value in [*given.items(), *options.items()] if name not in _VALUES]
    if any(next(recorded_in(value), None) is not None for value in constant):
        return None
    how = _reading(given) | (_resizing(options) if rest else {"layout": "hwc", "dtype": "uint8"})
    if len(rest) > 1:
        is_scaled = begins(rest[0]) and how.get("dtype") == "float32"
        how |= {"scale_first": True, "white": 1.0} if is_scaled else {"dtype": None}
    if None in how.values() or (has_window and len(rest) > 1):
        return None
    if has_window:
        how["crop"] = rm.GivenCrop("window", how.pop("resize"))
    return Picture(calls, rm.Image(**how))


def _has_window(call: Call) -> bool:
    """Whether a decoder is given a window that was computed."""
    window = _arguments(call, _CROP_NAMES).get("crop_window")
    return call.name == _CROPPER and isinstance(window, Recorded)


def _reading(given: dict[str, Any]) -> dict[str, Any]:
    """How it is decoded; None where it is no plain decoding."""
    plain = (
        not given.get("try_recover_truncated", False)
        and given.get("acceptable_fraction", 1) >= 1
        and given.get("dtype", "uint8") == "uint8"
        and given.get("ratio", 1) in (1, 2, 4, 8)
        and isinstance(given.get("contents"), Recorded)
    )
    ratio = given.get("ratio", 1)
    return {
        "like": "tensorflow" if plain else None,
        "channels": _CHANNELS.get(given.get("channels", 0)),
        "dct": _DCT.get(given.get("dct_method", "")),
        "upsampling": "fancy" if given.get("fancy_upscaling", True) else "plain",
        "reduce": ratio,
    }


def _resizing(options: dict[str, Any]) -> dict[str, Any]:
    method, antialias = options.get("method", "bilinear"), bool(options.get("antialias", False))
    size = array_of(options.get("size"))
    plain = size.shape == (2,) and size.dtype.kind in "iu" and size.min() > 0
    if not plain or options.get("preserve_aspect_ratio") or method not in _KERNELS:
        return {"resize": None}
    prefix = "antialiased_" if antialias and method in _ANTIALIASED else ""
    how = {"resize": (int(size[0]), int(size[1])), "kernel": f"tensorflow:{prefix}{method}", "layout": "hwc"}
    if method == "nearest":
        return how | {"dtype": "uint8"}
    return how | {"dtype": "float32", "white": 255.0}


def bytes_of(array: NDArray[Any]) -> list[bytes]:
    """Byte strings of a column."""
    if array.ndim != 1 or array.dtype != np.dtype(object):
        raise ValueError("there is not one file for each sample")
    rows: list[bytes] = array.tolist()
    return rows
