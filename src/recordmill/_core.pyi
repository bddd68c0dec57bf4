"""Types of the native module. `make lint` checks them against the built module."""

from collections.abc import Callable, Iterator, Sequence
from os import PathLike
from typing import Any, TypeAlias, final

from numpy.typing import NDArray

_Fault: TypeAlias = tuple[str, int | None, int, str, str, str]
_Buffer: TypeAlias = bytes | bytearray | memoryview | NDArray[Any] | Block
_Frames: TypeAlias = tuple[Sequence[Source], _Buffer, FrameKind, _Buffer, _Buffer, _Buffer | None]
_Index: TypeAlias = tuple[_Buffer, _Buffer, _Buffer | None]
_Column: TypeAlias = tuple[Any, Block | None, Block | None]

__all__ = [
    "BatchStream",
    "Block",
    "CoreChanged",
    "CoreFault",
    "FrameKind",
    "FrameTable",
    "HandedFile",
    "ImageRefused",
    "LocalFile",
    "PayloadKind",
    "Plan",
    "Source",
    "WholeFiles",
    "change_colors",
    "change_hls",
    "change_image",
    "count_fitting",
    "crc32c",
    "cut_boxes",
    "decode_each_image",
    "decode_each_mask",
    "decode_images",
    "decode_jpeg",
    "decode_masks",
    "decode_plain_jpeg",
    "decode_png",
    "decode_truncated_jpeg",
    "encode_png",
    "entry_points",
    "fetch",
    "frame",
    "frame_each",
    "has_feature_lists",
    "image_headers",
    "next_packet",
    "pad",
    "parse",
    "parse_each",
    "permute",
    "pick_pixels",
    "random_order",
    "random_words",
    "read_columns",
    "read_example",
    "read_examples",
    "read_files",
    "read_singles",
    "recode_png",
    "resize_floats",
    "row_checksums",
    "scan",
    "serialize",
    "serialize_frames",
    "split",
    "survey",
    "verify",
    "warp_fixed",
]

class CoreFault(Exception): ...
class CoreChanged(Exception): ...
class ImageRefused(Exception): ...

@final
class Block:
    def __len__(self) -> int: ...
    def __buffer__(self, flags: int, /) -> memoryview: ...

@final
class Source:
    @staticmethod
    def open(
        path: str | PathLike[str], *, compression: str | None = None, max_bytes: int = ..., spacing: int = ...
    ) -> Source: ...
    @staticmethod
    def from_bytes(
        data: _Buffer, *, compression: str | None = None, max_bytes: int = ..., spacing: int = ...
    ) -> Source: ...
    @staticmethod
    def from_reader(
        read: Callable[[int, int], _Buffer],
        num_bytes: int,
        *,
        compression: str | None = None,
        max_bytes: int = ...,
        spacing: int = ...,
    ) -> Source: ...
    @staticmethod
    def from_ranges(
        num_bytes: int,
        starts: Sequence[int],
        parts: Sequence[_Buffer | tuple[LocalFile, int, int]],
        max_record_bytes: int = ...,
    ) -> Source: ...
    @staticmethod
    def join(parts: Sequence[Source]) -> Source: ...
    def with_record_limit(self, max_bytes: int) -> Source: ...
    @property
    def num_bytes(self) -> int | None: ...
    @property
    def num_stored_bytes(self) -> int | None: ...
    def read(self, offset: int, length: int) -> Block: ...
    def read_stored(self, offset: int, length: int) -> Block: ...
    def check_unchanged(self) -> None: ...
    def save_seek_points(self) -> Block | None: ...
    def restore_seek_points(self, data: _Buffer) -> None: ...

@final
class LocalFile:
    def __new__(cls, path: str | PathLike[str]) -> LocalFile: ...

@final
class FrameKind:
    def __new__(cls, name: str) -> FrameKind: ...
    @property
    def name(self) -> str: ...
    @property
    def has_checksum(self) -> bool: ...
    @property
    def can_resync(self) -> bool: ...

@final
class PayloadKind:
    EXAMPLE: PayloadKind
    SEQUENCE_EXAMPLE: PayloadKind
    OFRECORD: PayloadKind
    IRHEADER: PayloadKind
    def __int__(self) -> int: ...

@final
class Plan:
    def __new__(cls, kind: PayloadKind, columns: Sequence[tuple[bytes, bool, str, int | None, Any]]) -> Plan: ...

@final
class FrameTable:
    def __new__(cls, indexes: Sequence[_Index]) -> FrameTable: ...
    def locate(self, positions: _Buffer) -> tuple[Block, list[int], Block, Block, Block, Block | None]: ...

@final
class BatchStream:
    def __new__(
        cls,
        source: Source,
        kind: FrameKind,
        num_records: int,
        *,
        checksums: _Buffer | None = None,
        verify: bool = True,
        threads: int = 2,
    ) -> BatchStream: ...
    def __iter__(self) -> Iterator[tuple[Block, Block]]: ...
    def __next__(self) -> tuple[Block, Block]: ...
    def close(self) -> None: ...

@final
class WholeFiles:
    def __new__(cls, paths: Sequence[str | PathLike[str]]) -> WholeFiles: ...
    def heads(self) -> tuple[Block, Block]: ...

@final
class HandedFile:
    def fileno(self) -> int: ...

def next_packet(socket: int, room: int) -> tuple[bytes, HandedFile | None] | None: ...
def scan(
    source: Source,
    kind: FrameKind,
    *,
    start: int = 0,
    verify: bool = False,
    max_records: int = ...,
    resync: bool = False,
) -> tuple[Block, Block, int, list[_Fault]]: ...
def verify(
    source: Source, kind: FrameKind, payload: PayloadKind | None = None, *, index: _Index | None = None
) -> tuple[int, list[_Fault], int, int, Block, Block]: ...
def fetch(
    source: Source,
    kind: FrameKind,
    offsets: _Buffer,
    lengths: _Buffer,
    *,
    checksums: _Buffer | None = None,
    verify: bool = True,
) -> tuple[Block, Block]: ...
def read_singles(
    source: Source, kind: FrameKind, start: int, max_records: int, *, shortest: int = 0, verify: bool = True
) -> tuple[list[tuple[int, bytes]], int]: ...
def frame(data: _Buffer, row_splits: _Buffer, kind: FrameKind) -> tuple[Block, Block, Block]: ...
def frame_each(payloads: tuple[bytes, ...], kind: FrameKind) -> tuple[Block, Block, Block]: ...
def split(data: _Buffer, row_splits: _Buffer) -> list[bytes]: ...
def pad(data: _Buffer, row_splits: _Buffer, width: int | None, fill: bytes) -> tuple[Block, int]: ...
def permute(numbers: _Buffer, length: int, left: int, keys: _Buffer, *, invert: bool = False) -> Block: ...
def random_order(length: int, seed: int, stream: Sequence[int]) -> Block: ...
def random_words(seed: int, epoch: int, positions: _Buffer, stage: int, first: int, count: int) -> Block: ...
def crc32c(data: _Buffer) -> int: ...
def row_checksums(data: _Buffer, row_splits: _Buffer) -> Block: ...
def count_fitting(paths: Sequence[str | PathLike[str]], max_bytes: int) -> tuple[int, Block]: ...
def read_files(paths: Sequence[str | PathLike[str]]) -> tuple[Block, Block]: ...
def parse(data: _Buffer, row_splits: _Buffer, plan: Plan, *, threads: int = 1) -> list[_Column]: ...
def parse_each(payloads: tuple[bytes, ...], plan: Plan, *, threads: int = 1) -> list[_Column]: ...
def read_columns(frames: _Frames, plan: Plan, *, verify: bool = True) -> list[_Column]: ...
def read_example(
    source: Source, kind: FrameKind, frame: tuple[int, int, int], plan: Plan, *, verify: bool = True
) -> list[_Column]: ...
def read_examples(frames: _Frames, plan: Plan, *, verify: bool = True) -> list[tuple[int, list[_Column]]]: ...
def serialize(kind: PayloadKind, num_records: int, columns: Sequence[Any]) -> tuple[Block, Block]: ...
def serialize_frames(
    kind: PayloadKind, num_records: int, columns: Sequence[Any], frame: FrameKind
) -> tuple[Block, Block, Block]: ...
def survey(
    kind: PayloadKind, data: _Buffer, row_splits: _Buffer
) -> tuple[
    list[tuple[bytes, bool, Any, bool, int, tuple[int, int], tuple[int, int], tuple[int, int]]], _Fault | None
]: ...
def has_feature_lists(payload: _Buffer) -> bool: ...

_Refused: TypeAlias = tuple[str, int, str, str]
_Image: TypeAlias = tuple[Block, int, int, int]

def image_headers(
    payloads: Sequence[_Buffer], reading: Any, upright: bool
) -> tuple[Block, list[tuple[int, _Refused]]]: ...
def decode_images(job: Any, dtype: str, out: NDArray[Any], threads: int) -> list[tuple[int, _Refused]]: ...
def decode_each_image(job: Any, dtype: str, threads: int) -> list[tuple[_Image | None, _Refused | None]]: ...
def decode_masks(masks: Any, dtype: str, out: NDArray[Any], threads: int) -> list[tuple[int, _Refused]]: ...
def decode_each_mask(masks: Any, dtype: str, threads: int) -> list[tuple[_Image | None, _Refused | None]]: ...
def change_colors(pixels: _Buffer, source: str, change: str, amount: float) -> Block: ...
def change_hls(pixels: _Buffer, back: bool, width: int, behind: int) -> Block: ...
def change_image(pixels: NDArray[Any], shape: tuple[int, ...], source: str, job: Any, dtype: str) -> _Image: ...
def cut_boxes(
    pixels: _Buffer,
    source: str,
    shape: tuple[int, ...],
    places: _Buffer,
    images: _Buffer,
    size: tuple[int, ...],
    nearest: bool,
    beyond: float,
) -> Block: ...
def pick_pixels(pixels: _Buffer, source: str, shape: tuple[int, ...], size: tuple[int, ...], rule: str) -> Block: ...
def resize_floats(
    pixels: _Buffer, source: str, shape: tuple[int, ...], size: tuple[int, ...], kernel: str
) -> Block: ...
def warp_fixed(
    pixels: _Buffer,
    shape: tuple[int, ...],
    size: tuple[int, ...],
    matrix: Sequence[float],
    kernel: str,
    fill: Sequence[int],
) -> Block: ...
def decode_jpeg(
    data: _Buffer,
    window: tuple[int, int, int, int] | None,
    channels: str,
    method: str,
    upsampling: str,
    cmyk: str,
    denominator: int,
    max_pixels: int,
    points: _Buffer | None = None,
) -> _Image: ...
def decode_truncated_jpeg(
    data: _Buffer,
    window: tuple[int, int, int, int] | None,
    channels: str,
    method: str,
    upsampling: str,
    cmyk: str,
    denominator: int,
    max_pixels: int,
    recovers: bool,
) -> tuple[_Image, int]: ...
def entry_points(data: _Buffer, row_splits: _Buffer, share: float, fixed: int, threads: int) -> tuple[Block, Block]: ...
def decode_plain_jpeg(data: _Buffer, upright: bool, max_pixels: int) -> _Image: ...
def decode_png(data: _Buffer, indices: bool, max_pixels: int) -> _Image: ...
def recode_png(files: Any, channels: str, upright: bool, max_pixels: int) -> tuple[Block, Block, Block]: ...
def encode_png(samples: _Buffer, height: int, width: int, channels: int) -> Block: ...
