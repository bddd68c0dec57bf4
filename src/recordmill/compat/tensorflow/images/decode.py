"""``tf.io.decode_jpeg``, ``decode_png``, ``decode_image``, ``extract_jpeg_shape`` and ``is_jpeg``."""

from __future__ import annotations

import io
import struct
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

import recordmill as rm
from recordmill.compat.tensorflow.core import dtypes
from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.dtypes import as_dtype
from recordmill.compat.tensorflow.core.tensor import Tensor
from recordmill.compat.tensorflow.images.arguments import check_dtype, raise_invalid
from recordmill.compat.tensorflow.images.color import scale_to_dtype
from recordmill.errors import MissingExtraError, RecordmillError

Window = tuple[int, int, int, int]

_JPEG_START = b"\xff\xd8"
_SIGNATURES = {
    "JPEG": b"\xff\xd8\xff",
    "PNG": b"\x89PNG\r\n\x1a\n",
    "GIF": b"GIF8",
    "BMP": b"BM",
}
_CHANNEL_NAMES: dict[int, Literal["stored", "gray", "rgb"]] = {0: "stored", 1: "gray", 3: "rgb", 4: "stored"}
_TRANSFORMS: dict[str, Literal["fast", "accurate"]] = {
    "": "fast",
    "INTEGER_FAST": "fast",
    "INTEGER_ACCURATE": "accurate",
}
# Markers of JPEG frame headers: 0xC0 to 0xCF except DHT, JPG and DAC (ITU T.81, table B.1).
_FRAME_MARKERS = {*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC}
_INVALID_JPEG = "jpeg::Uncompress failed. Invalid JPEG data or crop window."
# Byte offset of the color type in a PNG file, and the number of channels of each color type without alpha.
_PNG_COLOR_TYPE, _PNG_CHANNELS = 25, {0: 1, 2: 3}
_MAX_ANIMATION_BYTES = 2**29


@dataclass(frozen=True, slots=True)
class _JpegOptions:
    """Options of TensorFlow's JPEG decoder."""

    ratio: int = 1
    fancy_upscaling: bool = True
    try_recover_truncated: bool = False
    acceptable_fraction: float = 1.0
    dct_method: str = ""

    def __post_init__(self) -> None:
        if self.ratio not in (1, 2, 4, 8):
            raise_invalid(f"ratio must be 1, 2, 4 or 8, got {self.ratio}")
        if self.dct_method not in _TRANSFORMS:
            raise_invalid(f"dct_method must be one of {list(_TRANSFORMS)}, got {self.dct_method!r}")


@op("io.decode_jpeg")
def decode_jpeg(
    contents: Any,
    channels: int = 0,
    ratio: int = 1,
    fancy_upscaling: bool = True,
    try_recover_truncated: bool = False,
    acceptable_fraction: float = 1,
    dct_method: str = "",
) -> Tensor:
    """``tf.io.decode_jpeg``: decode a JPEG; as in TensorFlow, PNG and single-frame GIF files are also accepted."""
    options = _JpegOptions(ratio, fancy_upscaling, try_recover_truncated, acceptable_fraction, dct_method)
    return Tensor(_decode_still_image(contents, channels, np.dtype(np.uint8), options))


@op("io.decode_and_crop_jpeg")
def decode_and_crop_jpeg(
    contents: Any,
    crop_window: Any,
    channels: int = 0,
    ratio: int = 1,
    fancy_upscaling: bool = True,
    try_recover_truncated: bool = False,
    acceptable_fraction: float = 1,
    dct_method: str = "",
) -> Tensor:
    """``tf.io.decode_and_crop_jpeg``: decode a window of a JPEG.

    The result equals the window of the decoded image. In TensorFlow, the outermost columns differ slightly from it if
    `fancy_upscaling` is True.
    """
    options = _JpegOptions(ratio, fancy_upscaling, try_recover_truncated, acceptable_fraction, dct_method)
    numbers = array_of(crop_window, dtypes.int32).ravel().tolist()
    if len(numbers) != 4:
        raise_invalid(f"crop_window must have 4 elements, got {len(numbers)}")
    y, x, height, width = numbers
    if min(y, x) < 0 or min(height, width) < 1:
        raise_invalid(_INVALID_JPEG)
    data = _to_encoded_bytes(contents)
    name = _detect_format(data)
    if name != "JPEG":
        raise_invalid(f"decode_and_crop_jpeg supports only JPEG, got {name}")
    return Tensor(_decode_jpeg(data, _check_channels(channels), options, (x, y, width, height)))


@op("io.decode_png")
def decode_png(contents: Any, channels: int = 0, dtype: Any = dtypes.uint8) -> Tensor:
    """``tf.io.decode_png``: decode a PNG; as in TensorFlow, JPEG and single-frame GIF files are also accepted."""
    wanted = check_dtype("dtype", dtype, (dtypes.uint8, dtypes.uint16))
    return Tensor(_decode_still_image(contents, channels, wanted, _JpegOptions()))


@op("io.decode_image")
def decode_image(
    contents: Any,
    channels: int | None = None,
    dtype: Any = dtypes.uint8,
    name: str | None = None,
    expand_animations: bool = True,
) -> Tensor:
    """``tf.io.decode_image``: decode a JPEG, PNG, GIF, BMP or WebP; Pillow composes the frames of GIF files."""
    wanted = as_dtype(dtype)
    if not (wanted.is_floating or wanted.is_integer):
        raise AttributeError("dtype must be either floating point or integer")
    is_direct = wanted in (dtypes.float32, dtypes.uint8, dtypes.uint16)
    decoded_dtype = wanted.numpy_dtype if is_direct else np.dtype(np.uint16)
    data = _to_encoded_bytes(contents)
    pixels = _decode_any_format(data, channels or 0, decoded_dtype, _JpegOptions(), all_frames=expand_animations)
    return Tensor(scale_to_dtype(pixels, wanted.numpy_dtype))


@op("io.extract_jpeg_shape")
def extract_jpeg_shape(contents: Any, output_type: Any = dtypes.int32) -> Tensor:
    """``tf.io.extract_jpeg_shape``: return height, width and number of channels from the header of a JPEG."""
    dtype = check_dtype("output_type", output_type, (dtypes.int32, dtypes.int64))
    return Tensor(np.array(_read_jpeg_shape(_to_encoded_bytes(contents)), dtype))


@op("io.is_jpeg")
def is_jpeg(contents: Any) -> Tensor:
    """``tf.io.is_jpeg``: return whether each string starts with the signature of JPEG."""
    strings = array_of(contents, dtypes.string)
    answers = [one.startswith(_SIGNATURES["JPEG"]) for one in strings.ravel().tolist()]
    return Tensor(np.array(answers, np.bool_).reshape(strings.shape))


def _to_encoded_bytes(contents: Any) -> bytes:
    array = array_of(contents, dtypes.string)
    if array.ndim:
        raise_invalid(f"contents must be a scalar, got shape {array.shape}")
    return bytes(array[()])


def _detect_format(data: bytes) -> str:
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "WebP"
    found = next((name for name, signature in _SIGNATURES.items() if data.startswith(signature)), None)
    return found or raise_invalid("unknown image format: expected JPEG, PNG, GIF, BMP or WebP")


def _check_channels(channels: Any) -> int:
    if channels not in (0, 1, 3, 4):
        raise_invalid(f"channels must be 0, 1, 3 or 4, got {channels}")
    return int(channels)


def _decode_still_image(contents: Any, channels: int, dtype: np.dtype[Any], jpeg: _JpegOptions) -> NDArray[Any]:
    """Decode an image of any format except BMP and animated GIF."""
    data = _to_encoded_bytes(contents)
    name = _detect_format(data)
    if name == "BMP":
        raise_invalid("this function does not support BMP; use tf.io.decode_image")
    pixels = _decode_any_format(data, channels, dtype, jpeg, all_frames=True)
    if name != "GIF":
        return pixels
    if len(pixels) > 1:
        raise_invalid(f"the GIF has {len(pixels)} frames; decode animations with tf.io.decode_image")
    return np.ascontiguousarray(pixels[0])


def _decode_any_format(
    data: bytes, channels: Any, dtype: np.dtype[Any], jpeg: _JpegOptions, *, all_frames: bool
) -> NDArray[Any]:
    """Decode an image. With `all_frames`, a GIF or WebP gives an array (frames, height, width, channels)."""
    wanted, name = _check_channels(channels), _detect_format(data)
    if name == "PNG":
        return _decode_png(data, wanted, dtype)
    if name == "JPEG":
        return _scale_uint8_pixels(_decode_jpeg(data, wanted, jpeg), dtype)
    if name == "BMP":
        return _scale_uint8_pixels(_decode_bmp(data, wanted), dtype)
    if name == "WebP" and dtype != np.uint8:
        raise_invalid(f"dtype must be uint8 for WebP, got {dtype}")
    frames = _decode_frames(data, name, wanted, all_frames=all_frames)
    return _scale_uint8_pixels(frames if all_frames else frames[0], dtype)


def _scale_uint8_pixels(pixels: NDArray[np.uint8], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Convert uint8 pixels to `dtype` with the factors of TensorFlow's decoders, not those of `convert_image_dtype`."""
    if dtype == np.uint16:
        return pixels.astype(np.uint16) * np.uint16(256)
    return pixels if dtype == np.uint8 else pixels.astype(np.float32) * np.float32(1 / 255)


def _decode_jpeg(data: bytes, channels: int, options: _JpegOptions, window: Window | None = None) -> NDArray[np.uint8]:
    if channels == 4:
        raise_invalid("channels must be 0, 1 or 3 for JPEG, got 4")
    # TensorFlow accepts a file without an end marker only if libjpeg decodes enough rows. `rm.decode_jpeg` counts the
    # decoded rows if `acceptable_fraction` is a number. Therefore, the argument is always a number for such a file.
    is_cut = data.rfind(b"\xff\xd9") < 0
    fraction = min(max(float(options.acceptable_fraction), 0.0), 1.0)
    arguments: dict[str, Any] = {
        "window": window,
        "channels": _CHANNEL_NAMES[channels],
        "upsampling": "fancy" if options.fancy_upscaling else "plain",
        "scale": options.ratio,
        "cmyk": "tensorflow",
        "recover_truncated": bool(options.try_recover_truncated),
        "acceptable_fraction": fraction if fraction < 1 or is_cut else None,
    }
    try:
        try:
            pixels = rm.decode_jpeg(data, mode=_TRANSFORMS[options.dct_method], **arguments)
        except RecordmillError as error:
            # If `mode` is "accurate", `rm.decode_jpeg` uses Pillow for JPEGs that its native decoder does not support.
            if error.kind != "unsupported" or options.dct_method or is_cut:
                raise
            pixels = rm.decode_jpeg(data, mode="accurate", **arguments)
    except MissingExtraError:
        raise
    except RecordmillError as error:
        raise_invalid(_INVALID_JPEG, error)
    return pixels[:, :, None] if pixels.ndim == 2 else pixels


def _read_jpeg_shape(data: bytes) -> tuple[int, int, int]:
    """Return height, width and number of components from the frame header of a JPEG."""
    position = len(_JPEG_START)
    if data.startswith(_JPEG_START):
        while position + 10 <= len(data) and data[position] == 0xFF:
            marker, length = struct.unpack_from(">BH", data, position + 1)
            if marker in _FRAME_MARKERS:
                height, width, components = struct.unpack_from(">HHB", data, position + 5)
                return height, width, components
            position += 1 if marker == 0xFF else 2 + length
    return raise_invalid(f"Invalid JPEG data, size {len(data)}")


def _decode_png(data: bytes, channels: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    depth: Literal["stored", "8"] = "8" if dtype == np.uint8 else "stored"
    try:
        pixels = rm.decode_image(data, like="tensorflow", channels=_CHANNEL_NAMES[channels], depth=depth)
    except MissingExtraError:
        raise
    except RecordmillError as error:
        raise_invalid(f"Invalid PNG data, size {len(data)}", error)
    if depth == "stored" and pixels.dtype == np.uint8:
        pixels = pixels.astype(np.uint16) * np.uint16(257)
    if pixels.ndim == 2:
        pixels = pixels[:, :, None]
    if channels == 0:
        # A transparent color (tRNS chunk) does not add an alpha channel.
        pixels = np.ascontiguousarray(pixels[:, :, : _PNG_CHANNELS.get(data[_PNG_COLOR_TYPE], 4)])
    if channels == 4:
        pixels = _convert_to_rgba(pixels)
    return pixels if dtype.kind == "u" else pixels.astype(np.float32) * np.float32(1 / 65535)


def _convert_to_rgba(pixels: NDArray[Any]) -> NDArray[Any]:
    """Convert an image of 1 to 4 channels to red, green, blue and alpha."""
    stored = pixels.shape[2]
    if stored == 4:
        return pixels
    colors = pixels if stored == 3 else np.repeat(pixels[:, :, :1], 3, axis=2)
    opaque = np.full((*pixels.shape[:2], 1), np.iinfo(pixels.dtype).max, pixels.dtype)
    return np.concatenate([colors, pixels[:, :, 1:] if stored == 2 else opaque], axis=2)


def _decode_bmp(data: bytes, channels: int) -> NDArray[np.uint8]:
    """Decode an uncompressed BMP as TensorFlow does: palettes are not applied, and a fourth byte is alpha."""
    if channels == 1:
        raise_invalid("channels must be 0, 3 or 4 for BMP, got 1")
    if len(data) < 32:
        raise_invalid(f"a BMP file must have at least 32 bytes, got {len(data)}")
    start, width, height, bits = struct.unpack_from("<10xi4xii2xH", data)
    stored, stride = bits // 8, (bits // 8 * width + 3) // 4 * 4
    if start < 0 or width <= 0 or height == 0 or stored not in (1, 3, 4):
        raise_invalid(f"invalid BMP header: {width} x {height} pixels of {bits} bits at byte {start}")
    if len(data) < start + stride * abs(height):
        raise_invalid(f"the BMP file is truncated: {width} x {height} pixels of {bits} bits, got {len(data)} bytes")
    rows = np.frombuffer(data, np.uint8, stride * abs(height), start).reshape(abs(height), stride)
    pixels = rows[:, : stored * width].reshape(abs(height), width, stored)
    if height > 0:
        pixels = pixels[::-1]
    wanted = channels or stored
    if stored > 1:
        pixels = pixels[:, :, [2, 1, 0, 3][:stored]]
    if wanted == 4:
        return _convert_to_rgba(pixels)
    return np.ascontiguousarray(np.repeat(pixels, wanted, axis=2) if stored == 1 else pixels[:, :, :wanted])


def _decode_frames(data: bytes, name: str, channels: int, *, all_frames: bool) -> NDArray[np.uint8]:
    """Decode the first frame of a GIF or WebP, or all frames if `all_frames` is True."""
    if channels not in ((0, 3) if name == "GIF" else (0, 3, 4)):
        raise_invalid(f"channels = {channels} is not supported for {name}")
    module = import_pillow()
    try:
        with module.open(io.BytesIO(data)) as image:
            num_frames = int(image.n_frames) if all_frames else 1
            has_alpha = name == "WebP" and (image.n_frames > 1 or image.mode == "RGBA")
            stored = 4 if has_alpha else 3
            if num_frames * image.height * image.width * stored >= _MAX_ANIMATION_BYTES:
                raise_invalid(f"image is too large: {num_frames} frames of {image.width} x {image.height} pixels")
            frames = []
            for number in range(num_frames):
                image.seek(number)
                frames.append(np.asarray(image.convert("RGBA" if has_alpha else "RGB")))
    except RecordmillError:
        raise
    except Exception as error:  # noqa: BLE001 (Pillow raises many types for damaged files)
        raise_invalid(f"Invalid {name} data", rm.ImageError(str(error) or repr(error), kind="bad_image"))
    if channels not in (0, stored):
        raise_invalid(f"channels must be 0 or {stored} for this image, got {channels}")
    return np.stack(frames)


def import_pillow() -> Any:
    """Import PIL.Image; raise MissingExtraError if Pillow is not installed."""
    try:
        from PIL import Image
    except ImportError as error:
        message = "Pillow is needed for this image format"
        raise MissingExtraError(message, hint="pip install 'recordmill[image]'") from error
    return Image
