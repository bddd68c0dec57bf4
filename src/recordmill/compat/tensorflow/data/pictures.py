"""A decoder and the resize behind it, as one native call for a batch."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

import recordmill as rm
from recordmill.compat.tensorflow.core.tensor import array_of
from recordmill.compat.tensorflow.data.recorded import Recorded, recorded_in
from recordmill.compat.tensorflow.data.recording import Call
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
    """Encoded images brought to one size.

    Parameters
    ----------
    decode, resize : Call
        The calls that it stands for.
    image : recordmill.Image
    """

    decode: Call
    resize: Call
    image: rm.Image

    @property
    def contents(self) -> Recorded:
        """Encoded bytes."""
        found: Recorded = _arguments(self.decode, ("contents",))["contents"]
        return found

    def takes(self, rows: list[bytes] | rm.Ragged) -> bool:
        """Whether the native call knows all of these files: JPEG, and PNG of 8 bits a sample at its size.

        Parameters
        ----------
        rows : list of bytes, or Ragged of uint8

        Returns
        -------
        bool
        """
        whole = self.image.reduce == 1
        return all(
            head[:3] == _JPEG or (whole and head[:8] == _PNG and head[_DEPTH:] == b"\x08") for head in _heads(rows)
        )

    def run(self, rows: list[bytes] | rm.Ragged) -> NDArray[Any]:
        """Decode and resize.

        Parameters
        ----------
        rows : list of bytes, or Ragged of uint8

        Returns
        -------
        ndarray, shape (num_images, height, width, channels)
        """
        whole: NDArray[Any] = rm.decode_batch(rows, {"image": self.image})["image"]
        return whole


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


def picture_of(decode: Call, resize: Call) -> Picture | None:
    """Plan of a decoder and the resize behind it.

    Parameters
    ----------
    decode, resize : Call

    Returns
    -------
    Picture or None
        None where the native call does not do the same.
    """
    if decode.name not in _DECODERS or resize.name != "image.resize":
        return None
    given = _arguments(decode, _DECODE_NAMES if decode.name == "io.decode_jpeg" else _OTHER_NAMES)
    options = _arguments(resize, _RESIZE_NAMES)
    constant = [value for name, value in [*given.items(), *options.items()] if name not in ("contents", "images")]
    if any(next(recorded_in(value), None) is not None for value in constant):
        return None
    how = _reading(given) | _resizing(options)
    return None if None in how.values() else Picture(decode, resize, rm.Image(**how))


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
