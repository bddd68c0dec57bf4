"""Decode, crop and resize all images of a batch in one native call."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

import recordmill as rm
from recordmill.compat.tensorflow.core.rows import StringVector
from recordmill.compat.tensorflow.core.tensor import Tensor, array_of
from recordmill.compat.tensorflow.data.rules import BatchColumn
from recordmill.compat.tensorflow.data.symbolic import SymbolicTensor, find_symbolic
from recordmill.compat.tensorflow.data.trace import RecordedCall, converts_to_float32

_JPEG, _PNG = b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n"
# Offset of the bit depth in a PNG file, and number of bytes at the start of a file that are searched for a tRNS chunk.
_PNG_DEPTH, _HEAD_BYTES = 24, 1200
_DCT = {"": "fast", "INTEGER_FAST": "fast", "INTEGER_ACCURATE": "accurate"}
_CHANNELS: dict[Any, Any] = {0: "stored", None: "stored", 1: 1, 3: 3}
_CROP = "io.decode_and_crop_jpeg"
_OPTIONS = ("channels", "ratio", "fancy_upscaling", "try_recover_truncated", "acceptable_fraction", "dct_method")
_DECODE_ARGUMENTS = {
    "io.decode_jpeg": ("contents", *_OPTIONS),
    _CROP: ("contents", "crop_window", *_OPTIONS),
    "io.decode_png": ("contents", "channels", "dtype"),
    "io.decode_image": ("contents", "channels", "dtype", "expand_animations"),
}
_RESIZE_ARGUMENTS = ("images", "size", "method", "preserve_aspect_ratio", "antialias")


class DecodeStep:
    """Step of a native plan: a decoder and the operations after it, which run in one native call."""

    def __init__(self, calls: Sequence[RecordedCall], image: rm.Image, window: SymbolicTensor | float | None) -> None:
        self.calls, self._image = tuple(calls), image
        self._contents: int = _bind_arguments(calls[0], _DECODE_ARGUMENTS[calls[0].name])["contents"].number
        self._window = window
        self.inputs, self.outputs = calls[0].inputs, calls[-1].outputs
        self.output = self.outputs[0][0]
        self._resizes = image.resize is not None or window is not None
        self.description = f"images {'decoded and resized' if self._resizes else 'of one size decoded'} together"

    def run(self, known: Mapping[int, Any], empty: Callable[..., NDArray[Any]]) -> BatchColumn | None:
        """Decode the images of all samples; return None if they cannot be decoded together."""
        contents = known[self._contents]
        if isinstance(contents, list) or contents.tensor.ndim != 1:
            return None
        rows = contents.tensor.buffer if isinstance(contents.tensor, StringVector) else None
        files = contents.array.tolist() if rows is None else rows
        if not all(map(self._is_decoded_like_tensorflow, _iterate_first_bytes(files))) or not (
            self._resizes or _have_equal_image_sizes(files)
        ):
            return None
        data: Any = files
        if self._window is not None:
            windows = self._compute_crop_windows(known, files)
            if windows is None:
                return None
            data = {"image": files, "window": windows}
        return BatchColumn(Tensor(rm.decode_batch(data, {"image": self._image}, empty=empty)["image"]))

    def _compute_crop_windows(self, known: Mapping[int, Any], files: list[bytes] | rm.Ragged) -> NDArray[Any] | None:
        """Return crop windows as (x, y, width, height), or None if a window or the size of an image is unknown."""
        if isinstance(self._window, SymbolicTensor):
            windows = known[self._window.number]
            is_array = isinstance(windows, BatchColumn) and windows.array.shape == (len(files), 4)
            return windows.array[:, [1, 0, 3, 2]] if is_array else None
        fraction = self._window or 1.0
        sizes = np.asarray(rm.image_sizes(files, like="tensorflow"), np.int64)
        offsets = ((sizes - sizes.astype(np.float64) * fraction) / 2).astype(np.int64)  # Round as `central_crop` does.
        return np.hstack([offsets, sizes - 2 * offsets])[:, [1, 0, 3, 2]] if sizes.all() else None

    def _is_decoded_like_tensorflow(self, head: bytes) -> bool:
        """Return whether native decoding gives the same pixels as TensorFlow.

        This is true for JPEG files and for most 8-bit PNG files.
        """
        if head[:3] == _JPEG:
            return True
        is_png = self._image.reduce == 1 and head[:8] == _PNG and head[_PNG_DEPTH : _PNG_DEPTH + 1] == b"\x08"
        # With channels=0, a transparency (tRNS) chunk may add an alpha channel; such files are decoded one by one.
        return is_png and (self._image.channels != "stored" or (b"IDAT" in head and b"tRNS" not in head))


def _have_equal_image_sizes(files: list[bytes] | rm.Ragged) -> bool:
    sizes = rm.image_sizes(files, like="tensorflow")
    return bool((sizes == sizes[:1]).all() and sizes.all())


def _iterate_first_bytes(files: list[bytes] | rm.Ragged) -> Iterator[bytes]:
    """Yield the first `_HEAD_BYTES` bytes of each encoded image, which show its format and bit depth."""
    if isinstance(files, list):
        return (file[:_HEAD_BYTES] for file in files)
    data, splits = memoryview(files.data), files.row_splits.tolist()
    return (bytes(data[start : min(start + _HEAD_BYTES, stop)]) for start, stop in pairwise(splits))


def plan_decode_step(calls: Sequence[RecordedCall]) -> DecodeStep | None:
    """Plan one native call for a decoder and, if possible, for the float conversion, crop and resize after it.

    `calls` lists the decoder and the operations after it. Each operation only uses the result of the previous one.
    """
    if calls[0].name not in _DECODE_ARGUMENTS:
        return None
    conversion = crop = None
    for count, call in enumerate(calls[1:4], 2):
        if call.name == "image.resize":
            step = _create_decode_step(calls[:count], conversion, crop)
            if step is not None:
                return step
            break
        if conversion is None and converts_to_float32(call):
            conversion = call.name
        elif crop is None and call.name == "image.central_crop":
            crop = call
        else:
            break
    return _create_decode_step(calls[:1], None, None)


def _create_decode_step(
    calls: Sequence[RecordedCall], conversion: str | None, crop: RecordedCall | None
) -> DecodeStep | None:
    decode = _bind_arguments(calls[0], _DECODE_ARGUMENTS[calls[0].name])
    resize = _bind_arguments(calls[-1], _RESIZE_ARGUMENTS) if len(calls) > 1 else {}
    contents, window = decode.pop("contents", None), decode.pop("crop_window", None)
    resize.pop("images", None)
    constants = [*decode.values(), *resize.values()]
    if not isinstance(contents, SymbolicTensor) or any(next(find_symbolic(one), None) is not None for one in constants):
        return None
    options = _to_decode_options(decode) | (
        _to_resize_options(resize) if resize else {"layout": "hwc", "dtype": "uint8"}
    )
    if None in options.values() or (conversion and options["dtype"] != "float32"):
        return None
    if crop is not None:
        if window is not None or options["reduce"] != 1:
            return None
        window = _find_crop_fraction(crop)
    if calls[0].name == _CROP or crop is not None:
        if not isinstance(window, SymbolicTensor | float) or not resize:
            return None
        options["crop"] = rm.GivenCrop("window", options.pop("resize"))
    if conversion == "image.convert_image_dtype":
        options |= {"scale_first": True, "white": 1.0}
    return DecodeStep(calls, rm.Image(**options), window)


def _find_crop_fraction(crop: RecordedCall) -> float | None:
    """Return the fraction of a `central_crop` if the fraction is a constant in (0, 1]; otherwise, return None."""
    fraction: Any = crop.args[1]  # The tracer records the fraction as a positional argument.
    return float(fraction) if isinstance(fraction, float | np.floating) and 0 < fraction <= 1 else None


def _bind_arguments(call: RecordedCall, names: tuple[str, ...]) -> dict[str, Any]:
    return dict(zip(names, call.args, strict=False)) | call.kwargs


def _to_decode_options(arguments: dict[str, Any]) -> dict[str, Any]:
    """Convert a decoder's arguments to options of `rm.Image`; an option is None if its argument is not supported."""
    ratio = arguments.get("ratio", 1)
    is_plain = (
        not arguments.get("try_recover_truncated", False)
        and arguments.get("acceptable_fraction", 1) >= 1
        and arguments.get("dtype", "uint8") == "uint8"
        and ratio in (1, 2, 4, 8)
    )
    return {
        "like": "tensorflow" if is_plain else None,
        "channels": _CHANNELS.get(arguments.get("channels", 0)),
        "dct": _DCT.get(arguments.get("dct_method", "")),
        "upsampling": "fancy" if arguments.get("fancy_upscaling", True) else "plain",
        "reduce": ratio,
    }


def _to_resize_options(arguments: dict[str, Any]) -> dict[str, Any]:
    method, antialias = arguments.get("method", "bilinear"), bool(arguments.get("antialias", False))
    size = array_of(arguments.get("size"))
    is_plain = size.shape == (2,) and size.dtype.kind in "iu" and size.min() > 0
    if not is_plain or arguments.get("preserve_aspect_ratio") or method not in ("area", "bilinear", "nearest"):
        return {"resize": None}
    prefix = "antialiased_" if antialias and method == "bilinear" else ""
    options = {"resize": (int(size[0]), int(size[1])), "kernel": f"tensorflow:{prefix}{method}", "layout": "hwc"}
    if method == "nearest":
        return options | {"dtype": "uint8"}
    return options | {"dtype": "float32", "white": 255.0}
