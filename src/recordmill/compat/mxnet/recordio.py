"""``mx.recordio``: read and write RecordIO files record by record, and pack headers and images into records."""

from __future__ import annotations

import errno
import io
import numbers
import os
import secrets
import struct
import weakref
from collections import namedtuple
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import recordmill as rm
from recordmill.compat.mxnet.base import MisuseError, MXNetError, ParameterError, as_mxnet_error, convert_errors

# Fields of the image header: flag, label, id and id2; little-endian, without padding.
_IR_FORMAT = "<IfQQ"
_IR_SIZE = struct.calcsize(_IR_FORMAT)
_HEADER = struct.Struct(_IR_FORMAT)
# JPEG markers of frame headers: SOF0 to SOF15, except the three markers in this range with other meanings.
_FRAME_MARKERS = {*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC}
_JPEG, _PNG = b"\xff\xd8", b"\x89PNG"
# Offset of the color type in a PNG file. The byte before it is the bit depth.
_PNG_COLOR_TYPE = 25
# Color type of a gray image. Bit depth and color type of a gray image with 8 bits per pixel.
_PNG_GRAY, _PNG_GRAY_8 = 0, b"\x08\x00"
_FORMATS_WITH_ALPHA = ("PNG", "WEBP", "TIFF")

HEADER = namedtuple("HEADER", ["flag", "label", "id", "id2"])  # noqa: PYI024 (programs call _replace)
IRHeader: Any = HEADER
HEADER.__doc__ = """Header of an image record: number of labels after it, label or labels, id, upper bits of the id."""


class _OutputRecordFile:
    """A record file that is being written, with the keys of its records. `close` moves the file to its path."""

    def __init__(self, path: str, idx_path: str | None) -> None:
        self.process = os.getpid()
        self.writer = rm.PayloadWriter(path, format="recordio", index="never")
        self.idx_path = idx_path
        self.keys: list[Any] = []
        self.positions: list[int] = []

    def close(self) -> None:
        """Move the finished file to its path and write the index file; do nothing in a forked process."""
        if self.process != os.getpid():
            return
        self.writer.close()
        if self.idx_path is not None:
            lines = "".join(f"{key}\t{offset}\n" for key, offset in self.list_keys_and_offsets())
            write_file_atomically(self.idx_path, lines.encode("utf-8", "surrogateescape"))

    def list_keys_and_offsets(self) -> list[tuple[Any, int]]:
        """Return a (key, offset) pair for each record with a key."""
        offsets = self.writer.offsets.tolist()
        return [(key, offsets[position]) for key, position in zip(self.keys, self.positions, strict=True)]


def write_file_atomically(path: str, data: bytes) -> None:
    """Write a file under a temporary name and rename it, so that `path` never has incomplete content."""
    temporary = f"{path}.tmp-{secrets.token_hex(6)}"
    try:
        Path(temporary).write_bytes(data)
        os.replace(temporary, path)
    finally:
        Path(temporary).unlink(missing_ok=True)


def _require_folder(path: str) -> None:
    folder = os.path.dirname(path) or os.curdir
    if not os.path.isdir(folder):
        raise FileNotFoundError(errno.ENOENT, "No such folder", folder)


class MXRecordIO:
    """``mx.recordio.MXRecordIO``: read or write a RecordIO file sequentially.

    A written file replaces an existing one when it is closed. `read` returns None at the end, and ``b""`` for an empty
    record. A reader continues after a fork. It can be pickled; the copy starts at the first record.
    """

    def __init__(self, uri: str | os.PathLike[str], flag: str) -> None:
        self.uri, self.flag = os.fspath(uri), flag
        self.is_open = False
        self._output: _OutputRecordFile | None = None
        self._reader: rm.PayloadReader | None = None
        self.open()

    def open(self) -> None:
        """Open the file; a writer starts a new file."""
        if self.flag not in ("r", "w"):
            raise ValueError(f"Invalid flag {self.flag}")
        self.close()
        self.writable = self.flag == "w"
        with convert_errors():
            if self.writable:
                _require_folder(self.uri)
                self._output = _OutputRecordFile(self.uri, self._index_path())
                self._finish = weakref.finalize(self, self._output.close)
            else:
                self._reader = rm.PayloadReader(self.uri, format="recordio", compression=None)
        self.pid, self.is_open = os.getpid(), True

    def _index_path(self) -> str | None:
        return None

    def close(self) -> None:
        """Close the file; a second call does nothing."""
        if not self.is_open:
            return
        self.is_open = False
        if self._reader is not None:
            self._reader.close()
        if self._output is not None:
            with convert_errors():
                self._finish()
        self._reader = self._output = None

    def reset(self) -> None:
        """Go back to the first record; a writer discards the records that it has written."""
        if self.is_open and self._output is not None:
            self._output.writer.discard()
            self._finish.detach()
            self.is_open = False
        self.close()
        self.open()

    def write(self, buf: Any) -> None:
        """Append a record."""
        output = self._require_open_output()
        if not isinstance(buf, bytes | bytearray | memoryview):
            raise TypeError(f"a record must be bytes, got {type(buf).__name__}; encode text first")
        try:
            output.writer.write(buf)
        except rm.LimitError as error:
            wording = "Check failed: size < (1 << 29U): RecordIO only accept record less than 2^29 bytes"
            error.message = wording
            raise as_mxnet_error(error, found=f"{len(buf)} bytes") from error

    def read(self) -> bytes | None:
        """Return the next record, or None at the end."""
        reader = self._require_reader()
        with convert_errors():
            return reader.read()

    def _require_open_output(self) -> _OutputRecordFile:
        if self._output is None:
            raise MisuseError(f"{self.uri} is not open for writing")
        if self._output.process != os.getpid():
            raise RuntimeError("Forbidden operation in multiple processes")
        return self._output

    def _require_reader(self) -> rm.PayloadReader:
        if self._reader is None:
            raise MisuseError(f"{self.uri} is not open for reading")
        return self._reader

    def __getstate__(self) -> dict[str, Any]:
        if self._output is not None:
            raise TypeError(f"the writer of {self.uri} cannot be pickled")
        return self.__dict__ | {"_reader": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if self.is_open:
            self.is_open = False
            self.open()


class MXIndexedRecordIO(MXRecordIO):
    """``mx.recordio.MXIndexedRecordIO``: read or write a RecordIO file with an index file of keys and offsets."""

    def __init__(
        self, idx_path: str | os.PathLike[str], uri: str | os.PathLike[str], flag: str, key_type: Any = int
    ) -> None:
        self.idx_path, self.key_type = os.fspath(idx_path), key_type
        self.keys: list[Any] = []
        self._offsets: dict[Any, int] | None = {}
        super().__init__(uri, flag)

    def _index_path(self) -> str:
        return self.idx_path

    def open(self) -> None:
        """Open the record file and, for reading, load the index file."""
        super().open()
        self.keys, self._offsets = [], {}
        if self.writable:
            return
        with convert_errors():
            lines = Path(self.idx_path).read_text("utf-8", "surrogateescape").split("\n")
        for line in lines[:-1] if lines[-1] == "" else lines:
            fields = line.strip().split("\t")
            key = self.key_type(fields[0])
            self._offsets[key] = int(fields[1])
            self.keys.append(key)

    @property
    def idx(self) -> dict[Any, int]:
        """Dict that maps each key to the offset of its record; a repeated key maps to its last record."""
        if self._offsets is None and self._output is not None:
            self._offsets = dict(self._output.list_keys_and_offsets())
        return self._offsets or {}

    def seek(self, idx: Any) -> None:
        """Move to the record with key `idx`, so that `read` returns it next."""
        reader, offset = self._require_reader(), self.idx[idx]
        if offset < 0:
            message = "offsets in the index file must not be negative"
            raise MXNetError(message, kind="bad_index", shard=self.idx_path, found=f"{offset} for key {idx!r}")
        reader.seek(offset)

    def tell(self) -> int:
        """Return the offset of the next record."""
        with convert_errors():
            return self._require_open_output().writer.tell()

    def read_idx(self, idx: Any) -> bytes | None:
        """Return the record with key `idx`."""
        self.seek(idx)
        return self.read()

    def write_idx(self, idx: Any, buf: Any) -> None:
        """Append a record with key `idx`."""
        key, output = self.key_type(idx), self._require_open_output()
        position = output.writer.num_records
        self.write(buf)
        output.keys.append(key)
        output.positions.append(position)
        self.keys.append(key)
        self._offsets = None


def pack(header: Any, s: bytes) -> bytes:
    """``mx.recordio.pack``: return the payload of an image record: header, labels and image data `s`."""
    header = IRHeader(*header)
    if isinstance(header.label, numbers.Number):
        return _HEADER.pack(*header._replace(flag=0)) + s
    labels = np.asarray(header.label, np.float32)
    return _HEADER.pack(*header._replace(flag=labels.size, label=0)) + labels.astype("<f4").tobytes() + s


def unpack(s: bytes) -> tuple[Any, bytes]:
    """``mx.recordio.unpack``: split the payload of an image record into header and image data."""
    header: Any = IRHeader(*_HEADER.unpack(s[:_IR_SIZE]))
    data = s[_IR_SIZE:]
    if header.flag > 0:
        header = header._replace(label=np.frombuffer(data, np.float32, header.flag))
        data = data[4 * header.flag :]
    return header, data


def pack_img(header: Any, img: Any, quality: int = 95, img_fmt: str = ".jpg") -> bytes:
    """``mx.recordio.pack_img``: encode an image (blue first) with Pillow, and return the payload of its record."""
    return pack(header, _encode_image(np.asarray(img), quality, img_fmt))


def unpack_img(s: bytes, iscolor: int = -1) -> tuple[Any, NDArray[Any] | None]:
    """``mx.recordio.unpack_img``: return the header and the decoded image (blue first) of a record.

    The image is None if decoding fails, as in ``cv2.imdecode``.
    """
    if iscolor not in _DECODERS:
        raise ValueError(f"iscolor must be -1, 0 or 1, got {iscolor}")
    header, data = unpack(s)
    try:
        return header, _DECODERS[iscolor](data)
    except (rm.ImageError, rm.LimitError):
        return header, None


def _decode_unchanged(data: bytes) -> NDArray[Any]:
    if _is_color_jpeg(data):
        return rm.decode_image(data, like="opencv", channels="bgr", orientation="ignore")
    if data.startswith(_PNG) and data[_PNG_COLOR_TYPE - 1 : _PNG_COLOR_TYPE + 1] == _PNG_GRAY_8:
        pixels = rm.decode_png(data)
    else:
        pixels = rm.decode_image(data, like="opencv", channels="stored", orientation="ignore", depth="stored")
    if pixels.ndim == 2:
        return pixels
    if data.startswith(_PNG) and data[_PNG_COLOR_TYPE] == _PNG_GRAY:
        return np.ascontiguousarray(pixels[:, :, 0])  # OpenCV drops the alpha channel of gray PNG files
    return reverse_colors(pixels)


def reverse_colors(pixels: NDArray[Any]) -> NDArray[Any]:
    """Exchange red and blue. An image with gray and alpha gets the channels blue, green, red and alpha."""
    if pixels.ndim == 2 or pixels.shape[2] == 1:
        return pixels
    if pixels.shape[2] == 2:
        return pixels[:, :, [0, 0, 0, 1]]
    return pixels[:, :, [2, 1, 0, *range(3, pixels.shape[2])]]


def _is_color_jpeg(data: bytes) -> bool:
    """Return whether the data is a JPEG with more than one color component."""
    offset = 2 if data.startswith(_JPEG) else len(data)
    while offset + 9 < len(data) and data[offset] == 0xFF:
        marker, length = data[offset + 1], int.from_bytes(data[offset + 2 : offset + 4], "big")
        if marker in _FRAME_MARKERS:
            return data[offset + 9] > 1
        offset += 1 if marker == 0xFF else 2 + length  # A JPEG marker can start with several 0xFF bytes.
    return False


def _decode_gray(data: bytes) -> NDArray[Any]:
    return rm.decode_image(data, channels="gray", like="opencv", orientation="apply", depth="8")


def _decode_color(data: bytes) -> NDArray[Any]:
    return rm.decode_image(data, like="opencv", channels="bgr", orientation="apply", depth="8")


_DECODERS = {-1: _decode_unchanged, 0: _decode_gray, 1: _decode_color}


def _encode_image(pixels: NDArray[Any], quality: int, suffix: str) -> bytes:
    """Encode an image as ``cv2.imencode`` does."""
    module = _import_pillow()
    name = module.registered_extensions().get(suffix.lower())
    if name not in module.SAVE:
        raise ParameterError(f"could not find encoder for the specified extension {suffix!r}", kind="bad_format")
    options: dict[str, Any] = {}
    if name == "JPEG":
        options["quality"] = min(max(int(quality), 1), 100)
    elif name == "PNG":
        options["compress_level"] = min(max(int(quality), 0), 9)
    out = io.BytesIO()
    _create_pillow_image(module, _to_encodable_pixels(pixels, name), name).save(out, name, **options)
    return out.getvalue()


def _create_pillow_image(module: Any, pixels: NDArray[Any], name: str) -> Any:
    if pixels.ndim == 2:
        return module.fromarray(pixels)
    height, width, channels = pixels.shape
    if channels == 4 and name in _FORMATS_WITH_ALPHA:
        return module.fromarray(reverse_colors(pixels))
    pixels = np.ascontiguousarray(pixels[:, :, :3])
    return module.frombytes("RGB", (width, height), pixels, "raw", "BGR", 0, 1)


def _to_encodable_pixels(pixels: NDArray[Any], name: str) -> NDArray[Any]:
    """Return contiguous pixels, and drop a last axis of length 1; raise if the image format cannot store the pixels."""
    if pixels.ndim == 3 and pixels.shape[2] == 1:
        pixels = pixels[:, :, 0]
    is_deep = pixels.dtype == np.uint16 and name == "PNG" and pixels.ndim == 2
    channels = pixels.shape[2] if pixels.ndim == 3 else 1
    has_shape = pixels.ndim in (2, 3) and pixels.size > 0 and channels in (1, 3, 4)
    if not has_shape or not (is_deep or pixels.dtype == np.uint8):
        message, found = "the image cannot be encoded", f"{pixels.dtype} of shape {pixels.shape}"
        expected = "a non-empty uint8 image with 1, 3 or 4 channels"
        raise ParameterError(message, kind="bad_image", expected=expected, found=found)
    return np.ascontiguousarray(pixels)


def _import_pillow() -> Any:
    try:
        from PIL import Image
    except ImportError as error:
        message = "Pillow is needed to encode images"
        raise rm.MissingExtraError(message, hint="pip install 'recordmill[image]'") from error
    Image.init()
    return Image
