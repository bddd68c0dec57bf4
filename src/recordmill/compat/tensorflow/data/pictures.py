"""A decoder and the resize behind it, as one native call for a batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

import recordmill as rm
from recordmill.compat.tensorflow.core.tensor import array_of
from recordmill.compat.tensorflow.data.recorded import Recorded, recorded_in
from recordmill.compat.tensorflow.data.recording import Call
from recordmill.compat.tensorflow.data.rules import Whole
from recordmill.dataclass import dataclass

_KERNELS = ("area", "bilinear", "nearest")
_ANTIALIASED = ("bilinear",)
_DECODERS = ("io.decode_jpeg", "io.decode_png", "io.decode_image")
_DCT = {"": "fast", "INTEGER_FAST": "fast", "INTEGER_ACCURATE": "accurate"}
_JPEG, _PNG = b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n"
# Where a PNG tells the bits of a sample.
_DEPTH = 24


@dataclass(frozen=True, eq=False, slots=True)
class Picture:
    """Encoded images decoded, and brought to one size unless they have it.

    Parameters
    ----------
    calls : tuple of Call
        That it stands for: a decoder, and perhaps a resize.
    image : recordmill.Image
    """

    calls: tuple[Call, ...]
    image: rm.Image

    @property
    def contents(self) -> Recorded:
        """Encoded bytes."""
        found: Recorded = _arguments(self.calls[0], ("contents",))["contents"]
        return found

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
        return self.image.resize is not None

    @property
    def inputs(self) -> frozenset[int]:
        """Number of the value that it takes."""
        return self.calls[0].inputs

    @property
    def makes(self) -> frozenset[int]:
        """Number of the value that it gives."""
        return self.calls[-1].makes

    def run(self, rows: list[bytes] | rm.Ragged, room: Callable[[tuple[int, ...], Any], NDArray[Any]]) -> Whole | None:
        """Decode and resize.

        Parameters
        ----------
        rows : list of bytes, or Ragged of uint8
        room : callable
            Gives an array of a shape and dtype for the pixels.

        Returns
        -------
        Whole or None
            Of shape (num_images, height, width, channels); None where the calls one by one are to do it.
        """
        if not self._takes(rows):
            return None
        return Whole(rm.decode_batch(rows, {"image": self.image}, empty=room)["image"])

    def _takes(self, rows: list[bytes] | rm.Ragged) -> bool:
        """Whether the native call knows all of these files: JPEG, and PNG of 8 bits a sample at its size."""
        whole = self.image.reduce == 1
        known = all(
            head[:3] == _JPEG or (whole and head[:8] == _PNG and head[_DEPTH:] == b"\x08") for head in _heads(rows)
        )
        return known and (self.resizes or self._are_even(rows))

    def _are_even(self, rows: list[bytes] | rm.Ragged) -> bool:
        """Whether images have one size."""
        sizes = rm.image_sizes(rows, like="tensorflow")
        return bool((sizes == sizes[:1]).all() and sizes.all())


def _heads(rows: list[bytes] | rm.Ragged) -> Iterator[bytes]:
    """First bytes of each file."""
    if isinstance(rows, list):
        return (row[: _DEPTH + 1] for row in rows)
    data, splits = memoryview(rows.data), rows.row_splits.tolist()
    return (bytes(data[start : min(start + _DEPTH + 1, stop)]) for start, stop in pairwise(splits))


_DECODE_NAMES = (
    *("contents", "channels", "ratio", "fancy_upscaling", "try_recover_truncated", "acceptable_fraction"),
    "dct_method",
)
_OTHER_NAMES = ("contents", "channels", "dtype", "expand_animations")
_RESIZE_NAMES = ("images", "size", "method", "preserve_aspect_ratio", "antialias")


def _arguments(call: Call, names: tuple[str, ...]) -> dict[str, Any]:
    return dict(zip(names, call.args, strict=False)) | call.kwargs


def picture_of(decode: Call, resize: Call | None = None) -> Picture | None:
    """Plan of a decoder, and the resize behind it.

    Parameters
    ----------
    decode : Call
    resize : Call, optional

    Returns
    -------
    Picture or None
        None where the native call does not do the same.
    """
    if decode.name not in _DECODERS or (resize is not None and resize.name != "image.resize"):
        return None
    given = _arguments(decode, _DECODE_NAMES if decode.name == "io.decode_jpeg" else _OTHER_NAMES)
    options = {} if resize is None else _arguments(resize, _RESIZE_NAMES)
    constant = [value for name, value in [*given.items(), *options.items()] if name not in ("contents", "images")]
    if any(next(recorded_in(value), None) is not None for value in constant):
        return None
    how = _reading(given) | ({"layout": "hwc", "dtype": "uint8"} if resize is None else _resizing(options))
    calls = (decode,) if resize is None else (decode, resize)
    return None if None in how.values() else Picture(calls, rm.Image(**how))


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
        "channels": {1: 1, 3: 3}.get(given.get("channels", 0)),
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
    """Byte strings of a column.

    Parameters
    ----------
    array : ndarray of object, shape (n,)

    Returns
    -------
    list of bytes

    Raises
    ------
    ValueError
        They are not one for each sample.
    """
    if array.ndim != 1 or array.dtype != np.dtype(object):
        raise ValueError("there is not one file for each sample")
    rows: list[bytes] = array.tolist()
    return rows
