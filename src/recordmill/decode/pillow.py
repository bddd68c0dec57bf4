"""Decode with Pillow the images that the native decoder does not support.

Pillow is imported when it is first needed. Its exceptions become `ImageError`. Images are rejected if Pillow would
silently drop low bits.
"""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from recordmill.decode.options import MAX_PIXELS, DecodeOptions
from recordmill.decode.pixels import apply_orientation
from recordmill.errors import ImageError, LimitError, MissingExtraError, RecordmillError

if TYPE_CHECKING:
    from PIL.Image import Image

_JPEG_FORMATS = ("JPEG", "MPO")
_LOSSY_FORMATS, _LOSSY_TIFF_COMPRESSIONS = ("JPEG", "MPO", "AVIF"), ("jpeg", "tiff_jpeg", "webp")
_JPEG_SIGNATURE, _PNG_SIGNATURE = b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n"
_PNG_DEPTH, _PNG_COLOR_TYPE = 24, 25  # Byte offsets of bit depth and color type in a PNG file.
_TIFF_SIGNATURES = (b"II*\x00", b"MM\x00*")
_TIFF_BITS_PER_SAMPLE, _EXIF_ORIENTATION = 258, 0x0112  # Tag numbers in TIFF and EXIF.

_CHANNELS = {"L": 1, "LA": 2, "RGB": 3, "RGBA": 4, "CMYK": 4, "I;16": 1}  # Number of channels by Pillow mode.
# If a gamma value differs from 1 by less than this constant, libpng treats the value as 1.
_MIN_GAMMA_DIFFERENCE = 0.05

# Limits against JPEG files that are slow to decode. Even a small file may have thousands of scans, and each scan may
# update all blocks of the image. The native decoder has the same limits.
MAX_SCANS = 500
MAX_BLOCK_VISITS = 1 << 27
_START_OF_SCAN, _END_OF_IMAGE = 0xDA, 0xD9
_MARKER = re.compile(rb"\xff+([^\x00\xd0-\xd7\xff])")


def import_pillow() -> Any:
    """Return the module ``PIL.Image``."""
    try:
        from PIL import Image
    except ImportError:
        hint = "install it with: pip install 'recordmill[image]'"
        raise MissingExtraError("this image operation requires Pillow", hint=hint) from None
    return Image


class open_image:  # noqa: N801
    """Context manager that opens an encoded image with Pillow.

    Every exception in the `with` block becomes an ImageError, because damaged files make Pillow raise exceptions of any
    class.

    Parameters
    ----------
    data : buffer
        Encoded image.
    """

    def __init__(self, data: Any) -> None:
        self._module, self._data = import_pillow(), data

    def __enter__(self) -> Image:
        try:
            image: Image = self._module.open(io.BytesIO(self._data))
        except Exception as error:
            raise _convert_pillow_error(error) from error
        if image.format == "EPS":
            image.close()
            raise ImageError(
                "EPS is not supported, because Pillow would run it as a program", kind="unsupported", found="EPS"
            )
        self._image = image
        return image

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        self._image.close()
        if isinstance(error, Exception) and not isinstance(error, RecordmillError | MemoryError):
            raise _convert_pillow_error(error) from error


def _convert_pillow_error(error: Exception) -> ImageError:
    is_unknown = "cannot identify image file" in str(error)
    cause = "Pillow does not recognize its format" if is_unknown else str(error) or repr(error)
    is_bomb = type(error).__name__.startswith("DecompressionBomb")
    hint = "increase PIL.Image.MAX_IMAGE_PIXELS to accept larger images" if is_bomb else None
    kind = "limit_exceeded" if is_bomb else "bad_image"
    return ImageError(f"the image cannot be decoded: {cause}", kind=kind, hint=hint)


# Read headers


def read_header(data: Any, options: DecodeOptions, *, upright: bool, max_pixels: int) -> tuple[int, ...]:
    """Return (width, height, decoded width, decoded height, orientation, channels, is_jpeg)."""
    with open_image(data) as image:
        check_pixel_count(image.width, image.height, max_pixels)
        stored, channels = image.size, _CHANNELS[_find_stored_mode(image)]
        orientation = read_orientation(image) if upright else 1
        prepare_image(image, data, options)
        size, decoded = (pair[::-1] if orientation >= 5 else pair for pair in (stored, image.size))
        return (*size, *decoded, orientation, channels, int(image.format in _JPEG_FORMATS))


def check_pixel_count(width: int, height: int, max_pixels: int) -> None:
    """Raise LimitError if the image has more than `max_pixels` pixels."""
    if width * height > max_pixels:
        raise LimitError(
            "the image is too large",
            kind="limit_exceeded",
            expected=f"at most {max_pixels:,} pixels",
            found=f"{width:,} x {height:,}",
            hint="increase max_pixels= to accept larger images",
        )


def read_orientation(image: Image) -> int:
    """Return the EXIF orientation of an open image; 1 if the image has no valid orientation."""
    data = (image.info.get("exif") or b"").removeprefix(b"Exif\x00\x00")
    if not data.startswith(_TIFF_SIGNATURES):
        return 1
    exif = import_pillow().Exif()
    try:
        exif.load(data)
    except Exception:  # noqa: BLE001 (an image with damaged EXIF data is still readable)
        return 1
    value = exif.get(_EXIF_ORIENTATION, 1)
    return value if isinstance(value, int) and value in range(1, 9) else 1


def prepare_image(image: Image, data: Any, options: DecodeOptions) -> None:
    """Configure an open image for decoding with `options`; raise ImageError if Pillow does not support an option."""
    if options.deep != "high_byte":
        check_depth(image, data)
    if image.format in _JPEG_FORMATS:
        check_scan_count(data, image.width, image.height)
        _prepare_jpeg(image, options)
    elif options.scale != 1:
        raise ImageError(
            f"only JPEG can be decoded at scale 1/{options.scale}",
            kind="bad_scale",
            expected="JPEG",
            found=str(image.format),
        )


def _prepare_jpeg(image: Image, options: DecodeOptions) -> None:
    if options.dct != "accurate":
        raise _unsupported_option_error("the fast inverse DCT of JPEG", 'dct="accurate"')
    reads_luma = options.channels == "gray" and options.gray == "libpng" and image.mode == "RGB"
    if options.upsampling != "fancy" and image.mode != "L" and not reads_luma:
        raise _unsupported_option_error("plain upsampling of JPEG", 'upsampling="fancy"')
    if options.scale == 1 and not reads_luma:
        return
    expected = tuple(-(-side // options.scale) for side in image.size)
    target = tuple(max(1, side // options.scale) for side in image.size)
    image.draft("L" if reads_luma else None, target if options.scale > 1 else None)  # type: ignore[arg-type]
    scale: tuple[int, ...] = image.decoderconfig[:1]  # type: ignore[attr-defined]
    if image.size != expected or (options.scale > 1 and scale != (options.scale,)):
        raise _unsupported_option_error(f"scale 1/{options.scale} for such a small JPEG", "scale=1")


def _unsupported_option_error(feature: str, alternative: str) -> ImageError:
    return ImageError(f"Pillow does not support {feature}", kind="unsupported", hint=f"use {alternative}")


def check_depth(image: Image, data: Any) -> None:
    """Raise ImageError for images whose samples Pillow would reduce to 8 bits: 16-bit color and floating point."""
    head = bytes(memoryview(data)[:26])
    depth, color_type = head[_PNG_DEPTH : _PNG_DEPTH + 1], head[_PNG_COLOR_TYPE : _PNG_COLOR_TYPE + 1]
    deep_png = head[:8] == _PNG_SIGNATURE and depth == b"\x10" and color_type != b"\x00"
    bits = image.tag_v2.get(_TIFF_BITS_PER_SAMPLE, (8,)) if image.format == "TIFF" else (8,)  # type: ignore[attr-defined]
    deep_tiff = image.mode[0] != "I" and max(bits) > 8
    if image.mode == "F":
        raise _depth_error("Pillow would round this floating-point image to 8 bits", "floating-point numbers")
    if deep_png or deep_tiff:
        raise _depth_error("Pillow would drop the low bits of this 16-bit color image", "16-bit color")


def _depth_error(message: str, found: str) -> ImageError:
    return ImageError(
        message,
        kind="lost_depth",
        expected="8 bits per sample, or 16-bit gray",
        found=found,
        hint="when packing, omit encode= to store the file unchanged",
    )


def to_16_bits(image: Image) -> Image:
    """Convert 16-bit gray images that Pillow has opened as 32-bit integers to mode I;16."""
    if image.mode == "I;16":
        return image
    values = np.asarray(image)
    if values.min(initial=0) < 0 or values.max(initial=0) > 0xFFFF:
        raise ImageError(
            "the image has gray values that do not fit into 16 bits",
            kind="lost_depth",
            expected="0 to 65535",
            found=image.mode,
        )
    gray: Image = import_pillow().fromarray(values.astype(np.uint16))
    return gray


def check_scan_count(data: Any, width: int, height: int) -> None:
    """Raise LimitError if a JPEG has too many scans."""
    blocks = -(-width // 8) * -(-height // 8)
    limit = max(1, min(MAX_SCANS, MAX_BLOCK_VISITS // max(1, blocks)))
    if count_scans(data, limit) > limit:
        raise LimitError(
            "the image has too many scans",
            kind="limit_exceeded",
            expected=f"at most {limit} scans of {blocks:,} blocks",
            found="more",
        )


def count_scans(data: Any, limit: int) -> int:
    """Count the scans of a JPEG up to its end marker; stop counting at `limit` + 1."""
    scans, offset, view = 0, 2, memoryview(data)
    while scans <= limit and (match := _MARKER.search(view, offset)) is not None:
        marker, offset = match[1][0], match.end()
        if marker == _END_OF_IMAGE:
            break
        scans += marker == _START_OF_SCAN
        offset += int.from_bytes(view[offset : offset + 2], "big")
    return scans


# Decode pixels


def read_pixels(image: Image, options: DecodeOptions) -> NDArray[Any]:
    """Decode an image to an array of shape (height, width, channels); call `prepare_image` first."""
    image.load()
    if image.mode[0] in "IF":
        pixels = _read_16_bit_gray(image, options)
        return np.repeat(pixels, 3, axis=2) if options.channels == "rgb" else pixels
    # TensorFlow converts CMYK to RGB, also with channels="stored".
    cmyk_to_rgb = image.mode == "CMYK" and options.channels == "stored" and options.cmyk == "tensorflow"
    if options.channels == "rgb" or cmyk_to_rgb:
        return _read_rgb(image, options)
    if options.channels == "gray":
        return _read_gray(image, options)
    mode = _find_stored_mode(image)
    return _to_array(image if image.mode == mode else image.convert(mode))


def _to_array(image: Image) -> NDArray[np.uint8]:
    pixels = np.asarray(image)
    return pixels[:, :, None] if pixels.ndim == 2 else pixels


def _find_stored_mode(image: Image) -> str:
    """Find the Pillow mode for channels="stored": palette indices become colors, and transparency becomes a channel."""
    if image.mode[0] in "IF":
        return "I;16"
    transparent = image.has_transparency_data
    if image.mode in ("1", "L"):
        return "LA" if transparent else "L"
    if image.mode == "LA" or (image.mode in _CHANNELS and not transparent):
        return image.mode
    return "RGBA" if transparent else "RGB"


def _read_16_bit_gray(image: Image, options: DecodeOptions) -> NDArray[Any]:
    if image.mode == "F":
        raise ImageError("floating-point images are not supported", kind="unsupported", found="mode F")
    levels = np.asarray(to_16_bits(image)).astype(np.uint16)[:, :, None]
    if options.deep == "keep":
        return levels
    if options.deep == "high_byte":
        return (levels >> 8).astype(np.uint8)
    raise ImageError(
        "a 16-bit image would lose its low bits in uint8 output",
        kind="lost_depth",
        expected="8 bits per sample",
        found="16",
        hint='set dtype="uint16" or a float dtype to keep all 16 bits',
    )


def _read_rgb(image: Image, options: DecodeOptions) -> NDArray[np.uint8]:
    if image.mode == "CMYK" and options.cmyk == "opencv":
        return _cmyk_to_rgb_opencv(np.asarray(image))
    if image.mode == "CMYK" and options.cmyk == "tensorflow":
        return _cmyk_to_rgb_tensorflow(np.asarray(image), adobe="adobe" in image.info)
    return np.asarray(image if image.mode == "RGB" else image.convert("RGB"))


def _read_gray(image: Image, options: DecodeOptions) -> NDArray[np.uint8]:
    if image.mode in ("L", "LA", "1") or options.gray == "pillow":
        return _to_array(image.convert("L"))
    if image.mode == "CMYK" and options.cmyk == "opencv":
        return _rgb_to_gray_opencv(_read_rgb(image, options))
    if image.mode == "CMYK":
        raise ImageError(
            "a CMYK image has no luma plane, so it cannot be decoded as gray",
            kind="unsupported",
            expected="gray or YCbCr",
            found="CMYK",
            hint='set like="pillow", which computes gray from RGB',
        )
    rgb = np.asarray(image.convert("RGB"))
    if image.format == "PNG":
        _check_gamma(image)
        return _rgb_to_gray_libpng(rgb)
    return _rgb_to_gray_opencv(rgb, 15 if image.format == "WEBP" else 14)


def _check_gamma(image: Image) -> None:
    """Raise ImageError if libpng would convert this image to gray in linear light, which Pillow cannot do."""
    gamma = 0.45455 if "srgb" in image.info else image.info.get("gamma", 1.0)
    if "icc_profile" not in image.info and abs(gamma - 1) > _MIN_GAMMA_DIFFERENCE:
        raise ImageError(
            "converting this color image to gray in linear light is not supported",
            kind="unsupported",
            expected="8 bits per sample, or no gAMA and sRGB chunk",
            found=f"gamma {gamma:g}",
            hint='set like="pillow", which ignores the gamma',
        )


def _rgb_to_gray_opencv(rgb: NDArray[np.uint8], bits: int = 14) -> NDArray[np.uint8]:
    """Convert RGB to gray with OpenCV's own arithmetic: weights of 14 or 15 bits, with rounding."""
    weights = (4899, 9617, 1868) if bits == 14 else (9798, 19235, 3735)
    return _weighted_sum(rgb, weights, bits, 1 << (bits - 1))


def _rgb_to_gray_libpng(rgb: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Convert RGB to gray with 15-bit weights, rounded down, as libpng does for OpenCV and TensorFlow."""
    return _weighted_sum(rgb, (9797, 19234, 3737), 15, 0)


def _weighted_sum(rgb: NDArray[np.uint8], weights: tuple[int, int, int], bits: int, half: int) -> NDArray[np.uint8]:
    total = rgb.astype(np.uint32) @ np.array(weights, np.uint32)
    return ((total + np.uint32(half)) >> np.uint32(bits)).astype(np.uint8)[:, :, None]


def _cmyk_to_rgb_opencv(cmyk: NDArray[Any]) -> NDArray[np.uint8]:
    colors, inverse_black = cmyk[:, :, :3].astype(np.int32), 255 - cmyk[:, :, 3:].astype(np.int32)
    return (inverse_black - (colors * inverse_black >> 8)).astype(np.uint8)


def _cmyk_to_rgb_tensorflow(cmyk: NDArray[Any], *, adobe: bool) -> NDArray[np.uint8]:
    levels = (255 - cmyk if adobe else cmyk).astype(np.int32)
    return (levels[:, :, :3] * levels[:, :, 3:] // 255).astype(np.uint8)


# Decode masks


def read_classes(data: Any, *, upright: bool = False, max_pixels: int = MAX_PIXELS) -> NDArray[Any]:
    """Decode a mask to its classes: palette indices or stored gray values, shape (height, width), uint8 or uint16."""
    # JPEG is lossy, so it is not supported for masks. Reject JPEG before Pillow opens the file, because Pillow would
    # read all segments of the file, possibly millions.
    if bytes(memoryview(data)[:3]) == _JPEG_SIGNATURE:
        raise _mask_error("JPEG")
    with open_image(data) as image:
        check_pixel_count(image.width, image.height, max_pixels)
        orientation = read_orientation(image) if upright else 1
        return apply_orientation(_read_stored_values(image, data), orientation)


def _read_stored_values(image: Image, data: Any) -> NDArray[Any]:
    is_lossy = image.format in _LOSSY_FORMATS or image.info.get("compression") in _LOSSY_TIFF_COMPRESSIONS
    if is_lossy or (image.mode not in ("1", "L", "P") and not image.mode.startswith("I")):
        raise _mask_error(f"{image.format} of mode {image.mode}")
    image.load()
    if image.mode.startswith("I"):
        return np.asarray(to_16_bits(image)).astype(np.uint16)
    levels = np.asarray(image).astype(np.uint8)
    return levels // _find_gray_multiplier(image, data)


def _find_gray_multiplier(image: Image, data: Any) -> np.uint8:
    """Return the factor by which Pillow multiplied the values of a 2-bit or 4-bit gray PNG; 1 for other images."""
    head = bytes(memoryview(data)[:26])
    if image.format != "PNG" or image.mode != "L" or head[_PNG_COLOR_TYPE] != 0:
        return np.uint8(1)
    return np.uint8({2: 85, 4: 17}.get(head[_PNG_DEPTH], 1))


def _mask_error(found: str) -> ImageError:
    return ImageError(
        "the image is not a mask of class labels",
        kind="bad_mask",
        expected="lossless palette or gray image",
        found=found,
        hint="use the original masks, because classes cannot be recovered from colors or lossy encodings",
    )
