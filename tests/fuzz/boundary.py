"""Fuzz target `boundary`: sequences of calls of the native module with valid and invalid arguments.

Each call returns a result, whose memory can be read, or raises a documented exception. Nothing is written beside an
output array.
"""

from __future__ import annotations

import contextlib
import gc
import socket
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from recordmill import _core
from tests.fuzz import samples
from tests.fuzz.arguments import Arguments

# The native module is instrumented, so no Python lines are counted.
TRACED_FILES = ()
MAX_CALLS = 24
# What the native module raises for wrong arguments, damaged data, missing files and missing memory.
ALLOWED = (
    TypeError, ValueError, OverflowError, IndexError, AttributeError, BufferError, MemoryError, OSError,
    _core.CoreFault, _core.CoreChanged, _core.ImageRefused,
)  # fmt: skip

Call = Callable[[Arguments], Any]

# Inputs choose calls by their position in this table, so new calls belong at its end.
CALLS: dict[str, Call] = {}


def check(data: bytes) -> None:
    """Make the calls that an input describes."""
    files = _files()
    files.restore()
    args = Arguments(data, files.paths)
    calls = list(CALLS.values())
    for _ in range(MAX_CALLS):
        if args.is_empty:
            break
        call = args.choose(calls)
        with contextlib.suppress(*ALLOWED), np.errstate(all="ignore"):
            _read_all(call(args))
        assert args.has_intact_guards(), f"{call.__name__} wrote beside its output array"


def _read_all(result: Any) -> None:
    """Read the memory of all arrays in a result."""
    if isinstance(result, _core.Block):
        assert len(bytes(memoryview(result).cast("B"))) == memoryview(result).nbytes
    elif isinstance(result, tuple | list):
        for part in result:
            _read_all(part)


class Files:
    """A folder with shards and images, which calls may change."""

    def __init__(self) -> None:
        folder = samples.make_folder()
        contents = [*samples.shards(), *samples.images()[:2]]
        self._contents = {folder / str(number): data for number, data in enumerate(contents)}
        self.paths = list(self._contents)
        self._changed = set(self.paths)

    def restore(self) -> None:
        """Undo all changes."""
        for path in self._changed:
            path.write_bytes(self._contents[path])
        self._changed.clear()

    def write(self, path: Path, data: bytes) -> None:
        self._changed.add(path)
        path.write_bytes(data)

    def remove(self, path: Path) -> None:
        self._changed.add(path)
        path.unlink(missing_ok=True)


@cache
def _files() -> Files:
    return Files()


def _add(name: str) -> Callable[[Call], Call]:
    """Add a call under the name of the function or method that it calls."""

    def register(call: Call) -> Call:
        CALLS[name] = call
        return call

    return register


# Sources and files.


@_add("change_file")
def _change_file(args: Arguments) -> None:
    """Change a file that may be open."""
    path = args.choose(args.paths)
    if args.rarely():
        _files().remove(path)
    else:
        _files().write(path, args.file(samples.shards()))


@_add("Source.open")
def _open(args: Arguments) -> Any:
    compression = args.odd(args.choose([None, None, "gzip", "zlib"]))
    options = {"max_bytes": args.offset(), "spacing": args.offset()} if args.rarely() else {}
    return args.keep(_core.Source.open(args.path(), compression=compression, **options))


@_add("Source.from_bytes")
def _from_bytes(args: Arguments) -> Any:
    compression = args.odd(args.choose([None, "gzip", "zlib"]))
    data = args.buffer(args.file(samples.shards()))
    options = {"max_bytes": args.offset(), "spacing": args.offset()} if args.rarely() else {"spacing": 100}
    return args.keep(_core.Source.from_bytes(data, compression=compression, **options))


@_add("Source.join")
def _join(args: Arguments) -> Any:
    return args.keep(_core.Source.join([args.source() for _ in range(args.below(4))]))


@_add("Source.read")
def _read(args: Arguments) -> Any:
    return args.source().read(args.offset(), args.size())


@_add("Source.read_stored")
def _read_stored(args: Arguments) -> Any:
    return args.source().read_stored(args.offset(), args.size())


@_add("Source.num_bytes")
def _num_bytes(args: Arguments) -> Any:
    return args.source().num_bytes


@_add("Source.num_stored_bytes")
def _num_stored_bytes(args: Arguments) -> Any:
    return args.source().num_stored_bytes


@_add("Source.check_unchanged")
def _check_unchanged(args: Arguments) -> Any:
    return args.source().check_unchanged()


@_add("Source.save_seek_points")
def _save_seek_points(args: Arguments) -> Any:
    points = args.source().save_seek_points()
    return points if points is None else args.keep(points)


@_add("Source.restore_seek_points")
def _restore_seek_points(args: Arguments) -> Any:
    points = bytes(args.choose(args.kept[_core.Block])) if _core.Block in args.kept else b""
    return args.source().restore_seek_points(args.buffer(args.edited(points) if args.flag() else points))


@_add("count_fitting")
def _count_fitting(args: Arguments) -> Any:
    return _core.count_fitting([args.path() for _ in range(args.below(4))], args.offset())


@_add("read_files")
def _read_files(args: Arguments) -> Any:
    return _core.read_files([args.path() for _ in range(args.below(4))])


@_add("WholeFiles")
def _whole_files(args: Arguments) -> Any:
    return args.keep(_core.WholeFiles([args.path() for _ in range(args.below(4))]))


@_add("WholeFiles.heads")
def _heads(args: Arguments) -> Any:
    return args.choose(args.kept.get(_core.WholeFiles) or [_core.WholeFiles([])]).heads()


@_add("next_packet")
def _next_packet(args: Arguments) -> Any:
    """Receive a packet, with a file or without."""
    sender, receiver = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with sender, receiver:
        if args.flag():
            packet, files = args.blob() or b"-", [receiver.fileno()] * args.below(3)
            socket.send_fds(sender, [packet], files)
        packet = _core.next_packet(args.odd(receiver.fileno()), args.size())
    if packet is not None and packet[1] is not None:
        packet[1].fileno()
    return packet


# Frames.


@_add("FrameKind")
def _frame_kind(args: Arguments) -> Any:
    kind = _core.FrameKind(args.odd(args.choose([*samples.FRAME_KINDS, "toy"])))
    return kind.name, kind.has_checksum, kind.can_resync, repr(kind), hash(kind)


@_add("scan")
def _scan(args: Arguments) -> Any:
    start = args.offset() if args.rarely() else 0
    limit = {"max_records": args.offset()} if args.rarely() else {}
    return _core.scan(
        args.source(), args.frame_kind(), start=start, verify=args.flag(), resync=args.odd(args.flag()), **limit
    )


@_add("verify")
def _verify(args: Arguments) -> Any:
    source, kind = args.source(), args.frame_kind()
    index = args.odd(args.index(source, kind)) if args.flag() else None
    return _core.verify(source, kind, args.payload_kind() if args.flag() else None, index=index)


@_add("fetch")
def _fetch(args: Arguments) -> Any:
    source, kind = args.source(), args.frame_kind()
    offsets, lengths, checksums = args.index(source, kind)
    return _core.fetch(source, kind, offsets, lengths, checksums=checksums, verify=args.flag())


@_add("read_singles")
def _read_singles(args: Arguments) -> Any:
    start, shortest = (args.offset() if args.rarely() else 0 for _ in range(2))
    return _core.read_singles(
        args.source(), args.frame_kind(), start, args.offset(), shortest=shortest, verify=args.flag()
    )


@_add("frame")
def _frame(args: Arguments) -> Any:
    return _core.frame(*args.rows(args.strings(samples.shards())), args.frame_kind())


@_add("frame_each")
def _frame_each(args: Arguments) -> Any:
    strings = [args.odd(string) for string in args.strings(samples.shards())]
    return _core.frame_each(args.odd(tuple(strings)), args.frame_kind())


@_add("BatchStream")
def _stream(args: Arguments) -> Any:
    checksums = args.array([-1] * args.below(8)) if args.rarely() else None
    count = args.offset() if args.rarely() else 1 + args.below(4)
    return args.keep(
        _core.BatchStream(
            args.source(), args.frame_kind(), count, checksums=checksums, verify=args.flag(), threads=args.threads()
        )
    )


@_add("BatchStream.next")
def _next(args: Arguments) -> Any:
    """Read up to four batches of a stream."""
    streams = args.kept.get(_core.BatchStream)
    return [next(args.choose(streams), None) for _ in range(1 + args.below(4))] if streams else None


@_add("BatchStream.close")
def _close(args: Arguments) -> Any:
    streams = args.kept.get(_core.BatchStream)
    return args.choose(streams).close() if streams else None


@_add("FrameTable")
def _frame_table(args: Arguments) -> Any:
    kind = _core.FrameKind("tfrecord")
    return args.keep(_core.FrameTable([args.odd(args.index(args.source(), kind)) for _ in range(args.below(4))]))


@_add("FrameTable.locate")
def _locate(args: Arguments) -> Any:
    tables = args.kept.get(_core.FrameTable)
    return args.choose(tables).locate(args.array([args.below(8) for _ in range(args.below(8))])) if tables else None


# Rows, order and checksums.


@_add("split")
def _split(args: Arguments) -> Any:
    return _core.split(*args.rows(args.strings(samples.images())))


@_add("pad")
def _pad(args: Arguments) -> Any:
    strings = [bytes(8 * args.below(6)) for _ in range(args.below(5))]
    item = args.choose([1, 4, 8])
    splits = args.array(np.cumsum([0, *(len(string) // item for string in strings)]))
    width = args.odd(args.size()) if args.flag() else None
    return _core.pad(args.buffer(b"".join(strings)), splits, width, args.odd(bytes(item)))


@_add("crc32c")
def _crc32c(args: Arguments) -> Any:
    return _core.crc32c(args.buffer(args.file(samples.images())))


@_add("row_checksums")
def _row_checksums(args: Arguments) -> Any:
    return _core.row_checksums(*args.rows(args.strings(samples.images())))


@_add("permute")
def _permute(args: Arguments) -> Any:
    keys = args.array([args.integer() % 2**64 for _ in range(args.below(6))], np.uint64)
    numbers = args.array([args.below(64) for _ in range(args.below(6))])
    length, left = (args.integer() if args.flag() else number for number in (64, 8))
    return _core.permute(numbers, args.odd(length), args.odd(left), keys, invert=args.flag())


@_add("random_order")
def _random_order(args: Arguments) -> Any:
    return _core.random_order(args.count(), args.odd(args.integer() % 2**64), args.odd([args.byte()] * 3))


@_add("random_words")
def _random_words(args: Arguments) -> Any:
    positions = args.array([args.integer() % 2**64 for _ in range(args.below(6))], np.uint64)
    return _core.random_words(args.offset(), args.offset(), positions, args.offset(), args.offset(), args.size())


# Payloads.


@_add("Plan")
def _plan(args: Arguments) -> Any:
    return args.plan()


@_add("PayloadKind")
def _payload_kind(args: Arguments) -> Any:
    kind = args.payload_kind()
    return int(kind), hash(kind), repr(kind), kind == _core.PayloadKind.EXAMPLE


@_add("parse")
def _parse(args: Arguments) -> Any:
    rows = args.rows([args.payload() for _ in range(args.below(4))] * (200 if args.rarely() else 1))
    return _core.parse(*rows, args.plan(), threads=args.threads())


@_add("parse_each")
def _parse_each(args: Arguments) -> Any:
    payloads = tuple(args.odd(args.payload()) for _ in range(args.below(4)))
    return _core.parse_each(args.odd(payloads), args.plan(), threads=args.threads())


@_add("read_columns")
def _read_columns(args: Arguments) -> Any:
    return _core.read_columns(args.frames(), args.plan(), verify=args.flag())


@_add("read_example")
def _read_example(args: Arguments) -> Any:
    source, kind = args.source(), args.frame_kind()
    offsets, lengths = (np.asarray(block).tolist() for block in _core.scan(source, kind)[:2])
    row = args.below(len(offsets)) if offsets else 0
    frame = (offsets[row], lengths[row], -1) if offsets and not args.rarely() else (args.offset(), args.offset(), 0)
    return _core.read_example(source, kind, args.odd(frame), args.plan(), verify=args.flag())


@_add("read_examples")
def _read_examples(args: Arguments) -> Any:
    return _core.read_examples(args.frames(), args.plan(), verify=args.flag())


@_add("serialize")
def _serialize(args: Arguments) -> Any:
    count = args.below(5)
    columns = [args.column(count) for _ in range(args.below(4))]
    return _core.serialize(args.payload_kind(), args.count() if args.rarely() else count, columns)


@_add("serialize_frames")
def _serialize_frames(args: Arguments) -> Any:
    count = args.below(5)
    columns = [args.column(count) for _ in range(args.below(4))]
    return _core.serialize_frames(args.payload_kind(), count, columns, args.frame_kind())


@_add("survey")
def _survey(args: Arguments) -> Any:
    return _core.survey(args.payload_kind(), *args.rows([args.payload() for _ in range(args.below(4))]))


@_add("has_feature_lists")
def _has_feature_lists(args: Arguments) -> Any:
    return _core.has_feature_lists(args.buffer(args.payload()))


# Images.


@_add("image_headers")
def _image_headers(args: Arguments) -> Any:
    return _core.image_headers(args.encoded_images(), args.reading(), args.flag())


@_add("decode_images")
def _decode_images(args: Arguments) -> Any:
    (job, num_values), dtype = args.job(), args.word("dtype")
    out = args.output_for(getattr(job, "payloads", None), num_values, dtype)
    return _core.decode_images(job, dtype, out, args.threads())


@_add("decode_each_image")
def _decode_each_image(args: Arguments) -> Any:
    return _core.decode_each_image(args.job()[0], args.word("dtype"), args.threads())


@_add("decode_masks")
def _decode_masks(args: Arguments) -> Any:
    (masks, num_values), dtype = args.masks(), args.odd(args.choose(["uint8", "uint16", "int32", "int64"]))
    return _core.decode_masks(masks, dtype, args.output(num_values, dtype), args.threads())


@_add("decode_each_mask")
def _decode_each_mask(args: Arguments) -> Any:
    return _core.decode_each_mask(args.masks()[0], args.choose(["uint8", "uint16", "int32", "int64"]), args.threads())


@_add("change_image")
def _change_image(args: Arguments) -> Any:
    source = args.word("pixels")
    return _core.change_image(args.pixels(source), args.shape(3), source, args.job()[0], args.word("dtype"))


@_add("change_colors")
def _change_colors(args: Arguments) -> Any:
    source = args.odd(args.choose(["uint8", "float32"]))
    change = args.odd(args.choose(["to_hsv", "from_hsv", "saturate", "turn"]))
    return _core.change_colors(args.pixels(source), source, change, args.odd(args.number()))


@_add("change_hls")
def _change_hls(args: Arguments) -> Any:
    width, padding = (args.size() if args.rarely() else number for number in (4, 0))
    return _core.change_hls(args.pixels("uint8"), args.flag(), width, padding)


@_add("cut_boxes")
def _cut_boxes(args: Arguments) -> Any:
    source, count = args.word("pixels"), args.below(4)
    boxes = args.array(args.numbers(4 * count), np.float32)
    owners = args.array([args.below(2) * args.rarely() for _ in range(count)])
    return _core.cut_boxes(
        args.pixels(source), source, args.shape(3), boxes, owners, args.shape(2), args.flag(), args.number()
    )


@_add("pick_pixels")
def _pick_pixels(args: Arguments) -> Any:
    source = args.word("pixels")
    return _core.pick_pixels(args.pixels(source), source, args.shape(3), args.shape(2), args.word("nearest"))


@_add("resize_floats")
def _resize_floats(args: Arguments) -> Any:
    source = args.word("pixels")
    return _core.resize_floats(args.pixels(source), source, args.shape(3), args.shape(2), args.word("kernel"))


@_add("warp_fixed")
def _warp_fixed(args: Arguments) -> Any:
    kernel = args.odd(args.choose(["nearest", "bilinear", "cubic", "lanczos4"]))
    shape, size, fill = args.shape(3), args.shape(2), args.odd([args.byte()] * 4)
    return _core.warp_fixed(args.pixels("uint8"), shape, size, args.odd(args.numbers(6)), kernel, fill)


@_add("decode_jpeg")
def _decode_jpeg(args: Arguments) -> Any:
    points = args.buffer(args.file(samples.entry_point_tables())) if args.rarely() else None
    return _core.decode_jpeg(args.buffer(args.file(samples.images())), *args.jpeg_options(), points=points)


@_add("decode_truncated_jpeg")
def _decode_truncated_jpeg(args: Arguments) -> Any:
    data = args.buffer(args.file(samples.images()))
    return _core.decode_truncated_jpeg(data, *args.jpeg_options(), recovers=args.flag())


@_add("entry_points")
def _entry_points(args: Arguments) -> Any:
    share, fixed = args.choose([1e6, 0.01, 0.0, -1.0, float("nan")]), args.size()
    return _core.entry_points(*args.rows(args.strings(samples.images())), share, fixed, args.threads())


@_add("decode_plain_jpeg")
def _decode_plain_jpeg(args: Arguments) -> Any:
    limit = args.size() if args.rarely() else 1 << 16
    return _core.decode_plain_jpeg(args.buffer(args.file(samples.images())), args.flag(), limit)


@_add("decode_png")
def _decode_png(args: Arguments) -> Any:
    limit = args.size() if args.rarely() else 1 << 16
    return _core.decode_png(args.buffer(args.file(samples.images())), args.flag(), limit)


@_add("recode_png")
def _recode_png(args: Arguments) -> Any:
    limit = args.size() if args.rarely() else 1 << 16
    return _core.recode_png(args.encoded_images(), args.word("channels"), args.flag(), limit)


@_add("encode_png")
def _encode_png(args: Arguments) -> Any:
    height, width, channels = args.shape(3) or (0, 0, 0)
    return _core.encode_png(args.pixels("uint8"), height, width, channels)


@_add("Block")
def _block(args: Arguments) -> Any:
    """Use the memory of a result after the result itself is gone."""
    data = np.asarray(_core.random_order(args.below(100), 1, [0, 0, 0]))
    gc.collect(0)
    return data.sum(), len(_core.random_order(0, 1, [0, 0, 0]))


@_add("Source.with_record_limit")
def _with_record_limit(args: Arguments) -> Any:
    return args.keep(args.source().with_record_limit(args.offset()))


@_add("Source.from_reader")
def _from_reader(args: Arguments) -> Any:
    """Open a source whose reads are right, short, too long, of the wrong type, or fail."""
    data = args.file(samples.shards())
    compression = args.odd(args.choose([None, "gzip", "zlib"]))
    num_bytes = args.offset() if args.rarely() else len(data)
    read = args.choose(_READERS[:2] * 3 + _READERS)
    return args.keep(_core.Source.from_reader(partial(read, data), num_bytes, compression=compression))


def _read_part(data: bytes, offset: int, length: int) -> bytes:
    return data[offset : offset + length]


def _read_short(data: bytes, offset: int, length: int) -> bytearray:
    return bytearray(data[offset : offset + min(length, 1000)])


def _read_too_much(data: bytes, offset: int, length: int) -> bytes:
    return data[offset : offset + length + 1]


def _read_numbers(data: bytes, offset: int, length: int) -> Any:
    return np.zeros(length)


def _fail_to_read(data: bytes, offset: int, length: int) -> bytes:
    raise OSError(5, "fuzz")


_READERS = [_read_part, _read_short, _read_too_much, _read_numbers, _fail_to_read]


@_add("LocalFile")
def _local_file(args: Arguments) -> Any:
    return args.keep(_core.LocalFile(args.path()))


@_add("Source.from_ranges")
def _from_ranges(args: Arguments) -> Any:
    """Open a source of parts of a shard, in memory or in files, rarely with gaps or at wrong offsets."""
    data, files = args.file(samples.shards()), args.kept.get(_core.LocalFile, [])
    starts, parts, position = [], [], 0
    while position < len(data) and len(parts) < 8:
        part = data[position : position + 1 + args.below(200)]
        if files and args.rarely():
            parts.append(args.odd((args.choose(files), args.offset(), len(part))))
        else:
            parts.append(args.odd(args.buffer(part)))
        starts.append(args.offset() if args.rarely() else position)
        position += len(part)
    return args.keep(_core.Source.from_ranges(args.odd(len(data)), starts, parts, args.offset()))
