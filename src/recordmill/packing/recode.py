"""Decode images and masks, crop and resize them, and encode them again.

Native code converts JPEG to JPEG and PNG to PNG if the size does not change. Pillow handles all other cases.
"""

from __future__ import annotations

import io
import os
import sys
import threading
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from recordmill import _core
from recordmill.decode.native_image import try_native
from recordmill.decode.pillow import check_depth, import_pillow, open_image, to_16_bits
from recordmill.errors import ImageError
from recordmill.types import Ragged

if TYPE_CHECKING:
    from PIL.Image import Image

Encoding = Literal["jpeg", "png", "tiff", "webp"]
Shape = tuple[int, int]  # (height, width)

_SAVE_OPTIONS: dict[str, dict[str, Any]] = {
    "jpeg": {"format": "JPEG"},
    "png": {"format": "PNG"},
    "tiff": {"format": "TIFF", "compression": "tiff_lzw"},
    "webp": {"format": "WEBP"},
}
# Pillow modes that each encoding stores without conversion.
_STORED_MODES = {
    "jpeg": ("L", "RGB", "CMYK"),
    "png": ("1", "L", "LA", "P", "RGB", "RGBA", "I;16"),
    "tiff": ("1", "L", "LA", "P", "RGB", "RGBA", "CMYK", "I;16"),
    "webp": ("RGB", "RGBA"),
}
_LOSSY = ("jpeg", "webp")
# Largest width or height that an encoding stores. The JPEG limit is JPEG_MAX_DIMENSION of libjpeg.
_MAX_SIDE = {"jpeg": 65_500, "webp": 16_383}
# Default value of Pillow's MAX_IMAGE_PIXELS, used if Pillow is not imported or has no limit.
_MAX_PIXELS = 89_478_485


@dataclass(frozen=True, slots=True)
class Recoding:
    """Options for decoding an image and encoding it again, as in the parameters of `pack`."""

    encode: Encoding
    quality: int = 95
    resize: int | None = None
    center_crop: bool | int = False
    color: bool | None = None
    exif: bool = False
    restart_markers: bool = True

    @property
    def keeps_size(self) -> bool:
        """True if images are neither cropped nor resized."""
        return self.resize is None and self.center_crop is False

    @property
    def changes_geometry(self) -> bool:
        """True if images may be cropped, resized or rotated. Their masks then need the same transforms."""
        return not self.keeps_size or self.exif


def recode_image(data: Any, recoding: Recoding) -> tuple[bytes, Shape]:
    """Decode an image, transform it and encode it again; return the bytes and the new height and width."""
    native = _decode_jpeg_for_recoding(data, recoding)
    if native is not None:
        return _encode_image(native, recoding), (native.height, native.width)
    with open_image(data) as image:
        check_depth(image, data)
        result = _convert_mode(_transform_image(_decode_opened_image(image, data), recoding, nearest=False), recoding)
        _check_encodable_size(result.size, recoding.encode)
        return _encode_image(result, recoding), (result.height, result.width)


def recode_png_files(files: Ragged, recoding: Recoding) -> tuple[Ragged, list[Shape | None]]:
    """Recode PNG files natively; return their new bytes and shapes.

    The shape is None for files that need `recode_image`: other formats, and PNG files that contain more than plain
    8-bit pixels.
    """
    if recoding.encode != "png" or not recoding.keeps_size:
        return Ragged.from_rows([b""] * len(files)), [None] * len(files)
    channels = {None: "stored", True: "rgb", False: "gray"}[recoding.color]
    rows = (files.data, files.row_splits)
    data, row_splits, sides = _core.recode_png(rows, channels, recoding.exif, _find_pillow_pixel_limit())
    sizes = np.asarray(sides).reshape(-1, 2).tolist()
    return Ragged.from_blocks(data, row_splits), [(height, width) if height else None for height, width in sizes]


def recode_mask(data: Any, recoding: Recoding) -> bytes:
    """Crop, resize or rotate a mask like its image; return a PNG that keeps the values, palette and bit depth."""
    with open_image(data) as image:
        return _encode_image(_transform_mask(image, recoding), Recoding("png"))


def read_mask(data: Any, recoding: Recoding | None = None) -> NDArray[Any]:
    """Return the exact values of a mask as uint8 or uint16: palette indices, or gray levels."""
    with open_image(data) as image:
        mask = _transform_mask(image, recoding)
        if mask.mode == "I;16":
            return np.asarray(mask).astype("<u2")
        return np.asarray(mask).astype(np.uint8)


def read_image_shape(data: Any) -> Shape:
    """Return the height and width that the header of an encoded image declares."""
    with open_image(data) as image:
        return image.height, image.width


def check_decodable(data: Any) -> None:
    """Decode all pixels of an image, as training does; raise ImageError if that fails."""
    # Pillow raises an error for an image with more than twice its pixel limit. The native decoders leave such an image
    # to Pillow, so that the same error occurs.
    head, limit, pixels = bytes(memoryview(data)[:26]), 2 * _find_pillow_pixel_limit(), None
    if head.startswith(b"\xff\xd8"):
        pixels = _decode_jpeg(data, limit)
    elif head.startswith(b"\x89PNG\r\n\x1a\n"):
        has_palette = head[25:] == b"\x03"
        pixels = try_native(lambda: _core.decode_png(data, has_palette, limit))
    if pixels is None:
        with open_image(data) as image:
            image.load()


def _find_pillow_pixel_limit() -> int:
    """Return the number of pixels above which Pillow warns; the native decoder leaves larger images to Pillow."""
    limit = getattr(sys.modules.get("PIL.Image"), "MAX_IMAGE_PIXELS", None)
    return int(limit or _MAX_PIXELS)


def _decode_jpeg_for_recoding(data: Any, recoding: Recoding) -> Image | None:
    """Decode a JPEG natively for a recoding to JPEG of the same size; return None if Pillow must decode the image.

    The image shares the memory of the decoded pixels.
    """
    if recoding.encode != "jpeg" or not recoding.keeps_size:
        return None
    try:
        block, height, width, num_bytes = _core.decode_plain_jpeg(data, recoding.exif, _find_pillow_pixel_limit())
    except _core.ImageRefused:
        return None
    if max(height, width) > _MAX_SIDE["jpeg"] or recoding.color not in (None, num_bytes == 4):
        return None
    mode, module = {1: "L", 4: "RGBX"}[num_bytes], import_pillow()
    import PIL.JpegImagePlugin  # noqa: F401 (otherwise Pillow imports all its formats to find the one for saving)

    return cast("Image", module.frombuffer(mode, (width, height), block, "raw", mode, 0, 1))


def _decode_jpeg(data: Any, limit: int) -> NDArray[Any] | None:
    return try_native(lambda: _core.decode_jpeg(data, None, "stored", "accurate", "fancy", "pillow", 1, limit))


def _decode_opened_image(image: Image, data: Any) -> Image:
    """Decode an image that Pillow has opened. JPEG is decoded natively, which is faster and yields the same pixels."""
    if image.format == "JPEG" and image.mode in ("L", "RGB"):
        pixels = _decode_jpeg(data, image.width * image.height)
        if pixels is not None:
            decoded = import_pillow().fromarray(pixels[:, :, 0] if pixels.shape[2] == 1 else pixels)
            decoded.info = image.info
            return cast("Image", decoded)
    # Load the pixels now, because `Image.save` copies an image whose pixels are not loaded yet.
    image.load()
    return image


def _transform_mask(image: Image, recoding: Recoding | None) -> Image:
    mask = image if recoding is None else _transform_image(image, recoding, nearest=True)
    if mask.mode.startswith("I"):
        return to_16_bits(mask)
    if mask.mode not in ("P", "L", "1"):
        raise ImageError(
            "a mask must have one value per pixel",
            kind="bad_mask",
            expected="a palette or gray image",
            found=f"mode {mask.mode}",
            hint="use the original palette files, because colors cannot be converted back to classes",
        )
    return mask


def _transform_image(image: Image, recoding: Recoding, *, nearest: bool) -> Image:
    """Rotate an image to its EXIF orientation, resize it and crop it, if the recoding has these options."""
    if recoding.exif:
        from PIL import ImageOps

        image = ImageOps.exif_transpose(image)
    if recoding.center_crop is True:
        image = _crop_center(image, min(image.size))
    if recoding.resize is not None:
        image = _resize_shorter_side(image, recoding.resize, nearest=nearest or image.mode in ("P", "1"))
    if recoding.center_crop is not True and recoding.center_crop is not False:
        if min(image.size) < recoding.center_crop:
            raise ImageError(
                "the image is smaller than the center crop",
                kind="small_image",
                expected=f"at least {recoding.center_crop} pixels per side",
                found=f"{image.width} x {image.height}",
                hint="resize the image before the crop with resize=...",
            )
        image = _crop_center(image, recoding.center_crop)
    return image


def _resize_shorter_side(image: Image, shorter_side: int, *, nearest: bool) -> Image:
    resampling = import_pillow().Resampling
    width, height = image.size
    if width < height:
        size = (shorter_side, height * shorter_side // width)
    else:
        size = (width * shorter_side // height, shorter_side)
    # Limit the pixels of the result, because scaling up the shorter side of a long thin image may need too much memory.
    limit = max(_find_pillow_pixel_limit(), width * height)
    if size[0] * size[1] > limit:
        raise ImageError(
            "the image would be too large after resizing its shorter side",
            kind="limit_exceeded",
            expected=f"at most {limit:,} pixels",
            found=f"{size[0]} x {size[1]}",
        )
    return image.resize(size, resampling.NEAREST if nearest else resampling.BILINEAR)


def _crop_center(image: Image, side: int) -> Image:
    left, top = (image.width - side) // 2, (image.height - side) // 2
    return image.crop((left, top, left + side, top + side))


def _convert_mode(image: Image, recoding: Recoding) -> Image:
    """Convert an image to color or gray if the recoding requests it, and to a Pillow mode that the encoding stores."""
    if image.mode.startswith("I"):
        image = to_16_bits(image)
        if recoding.encode in _LOSSY or recoding.color:
            target = "RGB" if recoding.color else recoding.encode.upper()
            raise ImageError(
                f"a 16-bit image cannot be stored as {target} without loss",
                kind="lost_depth",
                expected="8 bits per sample",
                found="16",
                hint='use encode="png" to keep 16 bits, or omit encode= to store the file unchanged',
            )
        return image
    if recoding.color is not None:
        mode = "RGB" if recoding.color else "L"
    else:
        mode = (
            image.mode if image.mode in _STORED_MODES[recoding.encode] else _find_storable_mode(image, recoding.encode)
        )
    return image if image.mode == mode else image.convert(mode)


def _find_storable_mode(image: Image, encoding: Encoding) -> str:
    if image.mode in ("1", "L", "LA") and "L" in _STORED_MODES[encoding]:
        return "L"
    return "RGBA" if image.has_transparency_data and "RGBA" in _STORED_MODES[encoding] else "RGB"


def _check_encodable_size(size: tuple[int, int], encoding: Encoding) -> None:
    limit = _MAX_SIDE.get(encoding, max(size))
    if max(size) > limit:
        raise ImageError(
            f"the image is too large for {encoding.upper()}",
            kind="limit_exceeded",
            expected=f"at most {limit:,} pixels per side",
            found=f"{size[0]} x {size[1]}",
            hint='use encode="png" or encode="tiff" for larger images',
        )


def _encode_image(image: Image, recoding: Recoding) -> bytes:
    """Encode an image. The encoding must support the Pillow mode of the image."""
    options = dict(_SAVE_OPTIONS[recoding.encode])
    if recoding.encode in _LOSSY:
        options["quality"] = recoding.quality
    if recoding.encode == "png":
        if image.mode == "P":
            image = _extend_palette(image)
        encoded = encode_png(image)
        if encoded is not None:
            return encoded
    if recoding.encode == "jpeg":
        if recoding.restart_markers:
            options["restart_marker_rows"] = 1
        file = get_thread_output_file()
        image.save(file, **options)
        return read_written_bytes(file)
    buffer = io.BytesIO()
    image.save(buffer, **options)
    return buffer.getvalue()


def encode_png(image: Image) -> bytes | None:
    """Encode an image of 8-bit samples natively; return None if Pillow must encode it."""
    channels = {"L": 1, "LA": 2, "RGB": 3, "RGBA": 4}.get(image.mode)
    # The native encoder stores only pixels; Pillow also stores a color profile and transparency.
    if channels is None or any(image.info.get(name) is not None for name in ("icc_profile", "transparency")):
        return None
    samples: Any = np.asarray(image).reshape(-1)
    try:
        return bytes(memoryview(_core.encode_png(samples, image.height, image.width, channels)))
    except _core.ImageRefused:
        return None


def _extend_palette(image: Image) -> Image:
    """Extend the palette to the largest index in use, because Pillow cannot store indices beyond the palette."""
    colors = image.getpalette() or []
    num_missing = int(np.asarray(image).max(initial=0)) + 1 - len(colors) // 3
    if num_missing <= 0:
        return image
    extended = image.copy()
    extended.putpalette([*colors, *[0] * (3 * num_missing)])
    return extended


# In-memory output files above this size are truncated before reuse. Smaller ones keep their memory, because allocation
# costs time.
_MAX_REUSED_BYTES = 8 << 20


class _MemoryFile:
    """An in-memory file that is closed when its last reference is gone, for example when its thread ends."""

    def __init__(self) -> None:
        self.process = os.getpid()
        self.file = _open_memory_file()

    def __del__(self) -> None:
        self.file.close()


class _ThreadLocalFile(threading.local):
    output: _MemoryFile | None = None


_THREAD = _ThreadLocalFile()


def get_thread_output_file() -> IO[bytes]:
    """Return the in-memory output file of this thread, rewound to its start; every call returns the same file.

    The file has a file descriptor, so that Pillow writes JPEG to it without copies in Python.
    """
    output = _THREAD.output
    if output is None or output.process != os.getpid():
        output = _THREAD.output = _MemoryFile()
    if output.file.seek(0, os.SEEK_END) > _MAX_REUSED_BYTES:
        output.file.truncate(0)
    output.file.seek(0)
    return output.file


def _open_memory_file() -> IO[bytes]:
    if hasattr(os, "memfd_create"):
        return os.fdopen(os.memfd_create("recordmill"), "w+b", buffering=0)
    import tempfile

    return cast("IO[bytes]", tempfile.TemporaryFile(buffering=0))


def read_written_bytes(file: IO[bytes]) -> bytes:
    """Return the bytes from the start of an output file to its current position."""
    length = file.tell()
    file.seek(0)
    parts = []
    while length > 0 and (part := file.read(length)):
        parts.append(part)
        length -= len(part)
    return b"".join(parts)
