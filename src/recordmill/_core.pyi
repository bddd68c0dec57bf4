"""Types of the native module; proved against the built module by `make lint`."""

from collections.abc import Iterator, Sequence
from os import PathLike
from typing import Any, TypeAlias, final

from numpy.typing import NDArray

_Fault: TypeAlias = tuple[str, int | None, int, str, str, str]
_Buffer: TypeAlias = bytes | bytearray | memoryview | NDArray[Any] | Block
_Column: TypeAlias = tuple[Any, Block | None, Block | None]

__all__ = [
    "BatchStream",
    "Block",
    "CoreChanged",
    "CoreFault",
    "FrameKind",
    "FrameTable",
    "ImageRefused",
    "PayloadKind",
    "Plan",
    "Source",
    "WholeFiles",
    "change_image",
    "crc32c",
    "decode_each_image",
    "decode_each_mask",
    "decode_images",
    "decode_jpeg",
    "decode_masks",
    "decode_plain_jpeg",
    "decode_png",
    "encode_png",
    "entry_points",
    "fetch",
    "frame",
    "has_feature_lists",
    "image_headers",
    "pad",
    "parse",
    "parse_each",
    "permute",
    "read_columns",
    "read_examples",
    "read_files",
    "recode_png",
    "row_checksums",
    "scan",
    "serialize",
    "serialize_frames",
    "split",
    "survey",
    "verify",
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
    def join(parts: Sequence[Source]) -> Source: ...
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
class FrameKind:
    TFRECORD: FrameKind
    OFRECORD: FrameKind
    RECORDIO: FrameKind
    def __int__(self) -> int: ...

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
    def __new__(cls, indexes: Sequence[tuple[_Buffer, _Buffer]]) -> FrameTable: ...
    def locate(self, positions: _Buffer) -> tuple[Block, list[int], Block, Block, Block]: ...

@final
class BatchStream:
    def __new__(
        cls, source: Source, kind: FrameKind, num_records: int, *, verify: bool = True, threads: int = 2
    ) -> BatchStream: ...
    def __iter__(self) -> Iterator[tuple[Block, Block]]: ...
    def __next__(self) -> tuple[Block, Block]: ...
    def close(self) -> None: ...

@final
class WholeFiles:
    def __new__(cls, paths: Sequence[str | PathLike[str]]) -> WholeFiles: ...
    def heads(self) -> tuple[Block, Block]: ...

def scan(
    source: Source, kind: FrameKind, *, start: int = 0, verify: bool = False, max_records: int = ...
) -> tuple[Block, Block, int, _Fault | None]: ...
def verify(
    source: Source, kind: FrameKind, payload: PayloadKind | None = None
) -> tuple[int, list[_Fault], int, int, Block, Block]: ...
def fetch(
    source: Source, kind: FrameKind, offsets: _Buffer, lengths: _Buffer, *, verify: bool = True
) -> tuple[Block, Block]: ...
def frame(data: _Buffer, row_splits: _Buffer, kind: FrameKind) -> tuple[Block, Block, Block]: ...
def split(data: _Buffer, row_splits: _Buffer) -> list[bytes]: ...
def pad(data: _Buffer, row_splits: _Buffer, width: int | None, fill: bytes) -> tuple[Block, int]: ...
def permute(numbers: _Buffer, length: int, left: int, keys: _Buffer, *, invert: bool = False) -> Block: ...
def crc32c(data: _Buffer) -> int: ...
def row_checksums(data: _Buffer, row_splits: _Buffer) -> Block: ...
def read_files(paths: Sequence[str | PathLike[str]]) -> tuple[Block, Block]: ...
def parse(data: _Buffer, row_splits: _Buffer, plan: Plan, *, threads: int = 1) -> list[_Column]: ...
def parse_each(payloads: tuple[bytes, ...], plan: Plan, *, threads: int = 1) -> list[_Column]: ...
def read_columns(
    sources: Sequence[Source],
    which: _Buffer,
    kind: FrameKind,
    offsets: _Buffer,
    lengths: _Buffer,
    plan: Plan,
    *,
    verify: bool = True,
) -> list[_Column]: ...
def read_examples(
    sources: Sequence[Source],
    which: _Buffer,
    kind: FrameKind,
    offsets: _Buffer,
    lengths: _Buffer,
    plan: Plan,
    *,
    verify: bool = True,
) -> list[tuple[int, list[_Column]]]: ...
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
def change_image(pixels: NDArray[Any], shape: tuple[int, ...], source: str, job: Any, dtype: str) -> _Image: ...
def decode_jpeg(
    data: _Buffer,
    window: tuple[int, int, int, int] | None,
    channels: str,
    method: str,
    upsampling: str,
    denominator: int,
    max_pixels: int,
    points: _Buffer | None = None,
) -> _Image: ...
def entry_points(data: _Buffer, row_splits: _Buffer, share: float, fixed: int, threads: int) -> tuple[Block, Block]: ...
def decode_plain_jpeg(data: _Buffer, upright: bool, max_pixels: int) -> _Image: ...
def decode_png(data: _Buffer, indices: bool, max_pixels: int) -> _Image: ...
def recode_png(files: Any, channels: str, upright: bool, max_pixels: int) -> tuple[Block, Block, Block]: ...
def encode_png(samples: _Buffer, height: int, width: int, channels: int) -> Block: ...
