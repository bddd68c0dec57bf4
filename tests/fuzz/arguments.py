"""Arguments of the native module, decoded from a fuzz input: mostly valid ones, and every kind of invalid one."""

from __future__ import annotations

import types
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from recordmill import _core
from tests.fuzz import samples
from tests.fuzz.inputs import Input

Array = np.ndarray[Any, np.dtype[Any]]

ODD_VALUES: list[Any] = [
    None, -1, 0, 1 << 62, 1 << 64, True, 1.5, float("nan"), float("-inf"), "", "rgb", b"", b"x", (), [], {}, object()
]  # fmt: skip

WORDS = {
    "channels": ["rgb", "stored", "gray", "bgr"],
    "cmyk": ["pillow", "opencv", "tensorflow"],
    "dct": ["accurate", "fast"],
    "deep": ["refuse", "high_byte", "keep"],
    "dtype": ["uint8", "float32", "uint16", "float16"],
    "gray": ["pillow", "libpng"],
    "kernel": [
        "pillow:bilinear", "pillow:nearest", "opencv:nearest", "tensorflow:nearest", "pillow:box", "pillow:hamming",
        "pillow:bicubic", "pillow:lanczos", "pillow:mks2013", "pillow:mks2021", "opencv:bilinear", "opencv:cubic",
        "opencv:area", "opencv:lanczos4", "opencv:auto", "opencv:area_or_bilinear", "tensorflow:bilinear",
        "tensorflow:bicubic", "tensorflow:area", "tensorflow:lanczos3", "tensorflow:antialiased_lanczos5",
        "tensorflow:antialiased_gaussian", "tensorflow:mitchellcubic",
    ],
    "layout": ["hwc", "chw"],
    "mode": ["constant", "edge", "reflect"],
    "nearest": ["pillow:nearest", "opencv:nearest", "tensorflow:nearest"],
    "pixels": ["uint8", "float32", "uint16"],
    "sampling": ["nearest", "bilinear"],
    "upsampling": ["fancy", "plain"],
    "value": ["bytes", "float32", "float64", "int32", "int64", "uint64"],
    "want": ["rgb", "gray", "stored"],
}  # fmt: skip

GUARD_LENGTH = 64
GUARD = 0x5A


def _misaligned(array: Array) -> Array:
    return np.frombuffer(b"\0" + array.tobytes(), array.dtype, offset=1)


def _read_only(array: Array) -> Array:
    array = array.copy()
    array.flags.writeable = False
    return array


# Forms in which an array may be passed, with the same content or without.
FORMS: list[Callable[[Array], Any]] = [
    _read_only,
    memoryview,
    lambda array: array.tobytes(),
    lambda array: bytearray(array.tobytes()),
    lambda array: array[::-1],
    lambda array: np.repeat(array, 2)[::2],
    lambda array: array[:0],
    lambda array: array.reshape(1, -1),
    lambda array: array.view(np.uint8),
    lambda array: array.astype(array.dtype.newbyteorder()),
    lambda array: array.astype(np.int32),
    lambda array: array.astype(np.float64),
    lambda array: array.astype(np.complex64),
    lambda array: array.astype(object),
    lambda array: array.astype(bool),
    lambda array: array.astype("S8"),
    _misaligned,
    np.ndarray.tolist,
    lambda array: np.broadcast_to(array[:1], (5,)),
    lambda array: np.zeros((), array.dtype),
    lambda array: None,
    lambda array: "text",
]


class Arguments(Input):
    """Decodes arguments; keeps the objects that earlier calls returned, and the guards around output arrays.

    Parameters
    ----------
    data : bytes
    paths : sequence of path
        Existing files.
    """

    def __init__(self, data: bytes, paths: Sequence[Path]) -> None:
        super().__init__(data)
        self.paths = paths
        self.kept: dict[type, list[Any]] = {}
        self._guarded: list[Array] = []

    def keep(self, value: Any) -> Any:
        """Keep an object for later calls, and return it."""
        self.kept.setdefault(type(value), []).append(value)
        return value

    def has_intact_guards(self) -> bool:
        """Return True if no call has written beside its output array."""
        return all((base[edge] == GUARD).all() for base in self._guarded for edge in _guard_slices(base))

    def odd(self, usual: Any) -> Any:
        """Return the usual value, and rarely one that is odd in any place."""
        return self.choose(ODD_VALUES) if self.rarely() else usual

    def word(self, name: str) -> Any:
        return self.odd(self.choose(WORDS[name]))

    def offset(self) -> Any:
        return self.odd(self.integer() if self.rarely() else self.below(200))

    def size(self) -> Any:
        """Return a length that may be too large for any memory."""
        return self.odd(self.integer() if self.rarely() else self.below(40))

    def count(self) -> Any:
        """Return a number of items that all are produced, so that a large one would take gigabytes and seconds."""
        size = self.size()
        return min(size, 1 << 16) if isinstance(size, int) else size

    def threads(self) -> int:
        """Return a number of threads; a large one would be started."""
        return self.below(4)

    def number(self) -> float:
        if self.rarely():
            return self.choose([float("nan"), float("inf"), -1e308, 1e-308, 1e38, 2.0**63, 0.0])
        return (self.byte() - 128) / 16

    def numbers(self, count: int) -> list[float]:
        return [self.number() for _ in range(count)]

    def shape(self, rank: int) -> Any:
        return self.odd(tuple(self.size() for _ in range(rank)) if self.rarely() else (3, 4, 3)[:rank])

    def file(self, options: Sequence[bytes]) -> bytes:
        """Return one of the files, an edited one, or any bytes."""
        kind = self.below(4)
        return self.blob() if kind == 3 else self.edited(self.choose(options)) if kind else self.choose(options)

    def array(self, values: Any, dtype: Any = np.int64) -> Any:
        """Return an array of these values, rarely with others or in another form."""
        array = np.array(values, dtype).reshape(-1)
        if self.rarely():
            array = self._edited_array(array)
        return self.choose(FORMS)(array) if self.rarely() else array

    def _edited_array(self, array: Array) -> Array:
        content = self.edited(array.tobytes())
        return np.frombuffer(content[: len(content) // array.itemsize * array.itemsize], array.dtype).copy()

    def buffer(self, data: bytes) -> Any:
        return self.array(np.frombuffer(data, np.uint8), np.uint8) if self.flag() else data

    def rows(self, strings: Sequence[bytes]) -> tuple[Any, Any]:
        """Return byte strings as data and row splits."""
        splits = np.cumsum([0, *map(len, strings)])
        return self.buffer(b"".join(strings)), self.array(splits)

    def strings(self, options: Sequence[bytes]) -> list[bytes]:
        return [self.file(options) for _ in range(self.below(4))]

    def output(self, count: int, dtype: str) -> Any:
        """Return an output array for `count` numbers between guards."""
        length = min(max(count + (self.below(8) - 4 if self.rarely() else 0), 0), 1 << 16)
        dtype = dtype if dtype in ("uint8", "uint16", "float32", "int32", "int64") else "uint16"
        num_bytes = length * np.dtype(dtype).itemsize
        base = np.full(num_bytes + 2 * GUARD_LENGTH, GUARD, np.uint8)
        self._guarded.append(base)
        out = base[GUARD_LENGTH : GUARD_LENGTH + num_bytes].view(dtype)
        return self.choose(FORMS)(out) if self.rarely() else out

    def output_for(self, payloads: Any, count: int, dtype: str) -> Any:
        """Return an output array, which rarely shares memory with the payloads."""
        buffers = [part for part in payloads if isinstance(part, np.ndarray)] if payloads else []
        return self.choose(buffers) if buffers and self.rarely() else self.output(count, dtype)

    def path(self) -> Any:
        if self.rarely():
            folder = self.paths[0].parent
            return self.choose([folder / "missing", folder, "", "a\0b", b"bytes", "/dev/null", None])
        return self.choose(self.paths)

    def frame_kind(self) -> Any:
        return self.odd(_core.FrameKind(self.choose(samples.FRAME_KINDS)))

    def payload_kind(self) -> Any:
        return self.odd(getattr(_core.PayloadKind, self.choose(samples.PAYLOAD_KINDS)))

    def source(self) -> Any:
        if _core.Source in self.kept and self.flag():
            return self.odd(self.choose(self.kept[_core.Source]))
        return _core.Source.from_bytes(self.file(samples.shards()[:3]))

    def payload(self) -> bytes:
        return self.file(samples.payloads(self.choose(samples.PAYLOAD_KINDS)))

    def index(self, source: Any, kind: Any) -> tuple[Any, Any, Any]:
        """Return offsets, lengths and checksums of the frames of a source, rarely others."""
        offsets, lengths = (np.array(block) for block in _core.scan(source, kind)[:2])
        if self.flag():
            chosen = [self.below(len(offsets)) for _ in range(self.below(6))] if len(offsets) else []
            offsets, lengths = offsets[chosen], lengths[chosen]
        checksums = self.array(np.full(len(offsets), -1)) if self.flag() else None
        return self.array(offsets), self.array(lengths), checksums

    def frames(self) -> Any:
        """Return the frames of one or two sources, as `read_columns` gets them."""
        source, kind = self.source(), self.frame_kind()
        offsets, lengths, checksums = self.index(source, kind)
        sources = [source, self.source()] if self.flag() else [source]
        owners = np.zeros(len(offsets) if isinstance(offsets, np.ndarray) else 0)
        return self.odd((sources, self.array(owners), kind, offsets, lengths, checksums))

    def plan(self) -> Any:
        if _core.Plan in self.kept and self.flag():
            return self.odd(self.choose(self.kept[_core.Plan]))
        names = [b"image", b"label", b"weights", b"steps", b"data", b"id", b""]
        columns = [
            (self.choose(names), self.rarely(), self.word("value"), self.plan_length(), self.default())
            for _ in range(self.below(4))
        ]
        return self.keep(_core.Plan(self.payload_kind(), columns))

    def plan_length(self) -> Any:
        """Return the number of values per record, or None."""
        return self.size() if self.rarely() else self.choose([None, 1, 0, 2])

    def default(self) -> Any:
        """Return the rule for a missing feature."""
        kind = self.below(5)
        if kind < 3:
            return self.odd(("empty", "error", (self.buffer(b"ab"), self.array([0, 2])))[kind])
        return self.array([1] if kind == 3 else [], self.choose(["f4", "f8", "i4", "i8", "u8"]))

    def column(self, num_records: int) -> Any:
        """Return the attributes of a column to serialize."""
        kind = self.word("value")
        splits = self.array(np.arange(num_records + 1))
        dtype = kind if kind in WORDS["value"][1:] else "int64"
        values = self.rows([b"text"] * num_records) if kind == "bytes" else self.array([1] * num_records, dtype)
        if _core.WholeFiles in self.kept and self.rarely():
            values = self.choose(self.kept[_core.WholeFiles])
        column = types.SimpleNamespace(
            name=self.choose([b"label", b"image", b"", b"id", b"\xff", b"data"]),
            lists=self.rarely(),
            kind=kind,
            values=values,
            fixed=self.size() if self.rarely() else self.choose([1, None]),
            row_splits=splits if self.flag() else None,
            frame_splits=splits if self.rarely() else None,
            present=self.array([1] * num_records, np.uint8) if self.rarely() else None,
            scalar=self.flag(),
        )
        return self.spoiled(column)

    def spoiled(self, fields: types.SimpleNamespace) -> types.SimpleNamespace:
        """Return attributes of which, rarely, one is odd or missing."""
        if self.rarely():
            name = self.choose(sorted(vars(fields)))
            setattr(fields, name, self.choose(ODD_VALUES))
            if self.rarely():
                delattr(fields, name)
        return fields

    def reading(self) -> types.SimpleNamespace:
        """Return decode options."""
        words = {name: self.word(name) for name in ("want", "gray", "deep", "dct", "upsampling", "cmyk")}
        limit = self.size() if self.rarely() else 1 << 16
        return self.spoiled(types.SimpleNamespace(**words, scale=self.scale(), max_pixels=limit))

    def scale(self) -> Any:
        return self.odd(self.choose([1, 1, 1, 2, 4, 8]))

    def encoded_images(self) -> Any:
        """Return encoded images, as a list or as rows of one buffer."""
        files = self.strings(samples.images())
        return self.rows(files) if self.flag() else self.odd([self.buffer(file) for file in files])

    def job(self) -> tuple[types.SimpleNamespace, int]:
        """Return a batch of images to decode, and the number of values of its output."""
        payloads = self.strings(samples.images())
        count, side = len(payloads), 1 + self.below(24)
        points = [self.buffer(self.file(samples.entry_point_tables())) for _ in payloads] if self.rarely() else []
        window = [0, 0, samples.WIDTH, samples.HEIGHT]
        if self.flag():
            window = [self.below(8), self.below(8), 1 + self.below(12), 1 + self.below(8)]
        geometry = [*window, side, side, 0, 0, side, side, self.flag(), self.flag(), self.scale() or 1]
        if self.rarely():
            geometry[self.below(13)] = self.integer()
        channels = self.choose([3, 1])
        job = types.SimpleNamespace(
            payloads=self.rows(payloads) if self.flag() else [self.buffer(file) for file in payloads],
            points=points,
            reading=self.reading(),
            orientations=self.array([1 + self.below(9)] * count),
            geometry=self.array(_as_integers(geometry) * count),
            matrix=self.array(self.numbers(6) * count, np.float64) if self.rarely() else None,
            kernel=self.word("kernel"),
            mode=self.word("mode"),
            fill=[self.byte()] * self.choose([1, 3]),
            sampling=self.word("sampling"),
            warp_fill=[self.byte()] * self.choose([1, 3]),
            colors=[self.color_step(count) for _ in range(self.below(3))] if self.rarely() else [],
            layout=self.word("layout"),
            reverse=self.flag(),
            mean=self.numbers(self.choose([1, 3])),
            factor=self.numbers(self.choose([1, 3])),
            deep_mean=[0.0],
            deep_factor=[1.0],
            halves=self.flag(),
            first=self.numbers(2) if self.rarely() else [],
        )
        return self.spoiled(job), count * side * side * channels

    def color_step(self, count: int) -> tuple[Any, Any, Any]:
        kind, width = self.choose([("jitter", 8), ("gray", 1), ("shift", 3), ("paint", 4), ("unknown", 1)])
        return kind, self.array(self.numbers(width) * count, np.float64), [self.byte()] * self.below(4)

    def masks(self) -> tuple[types.SimpleNamespace, int]:
        """Return a batch of masks to decode, and the number of values of its output."""
        job, num_values = self.job()
        sizes = [self.size() if self.rarely() else 20, 14, 20, 14] * 3
        masks = types.SimpleNamespace(
            job=job,
            upright=self.flag(),
            sizes=self.array(_as_integers(sizes[: 4 * self.below(4)])) if self.flag() else None,
            fit=self.flag(),
            rule=self.word("nearest"),
        )
        return self.spoiled(masks), num_values

    def pixels(self, source: Any, count: int = 36) -> Any:
        """Return pixels as a flat array, usually those of an image of 3 x 4 pixels with 3 channels."""
        dtype = source if source in WORDS["pixels"] else "uint8"
        return self.array(np.arange(count + self.below(8) * self.rarely()), dtype)

    def jpeg_options(self) -> list[Any]:
        """Return the arguments of the JPEG decoders from `window` to `max_pixels`."""
        window = None
        if self.flag():
            window = self.odd((self.below(8), self.offset(), 1 + self.below(12), 1 + self.below(8)))
        words = [self.word(name) for name in ("channels", "dct", "upsampling", "cmyk")]
        return [window, *words, self.scale(), self.size() if self.rarely() else 1 << 16]


def _guard_slices(base: Array) -> tuple[slice, slice]:
    return slice(GUARD_LENGTH), slice(len(base) - GUARD_LENGTH, None)


def _as_integers(values: Sequence[Any]) -> list[int]:
    """Return the values with odd ones and those out of the range of int64 replaced by -1."""
    return [value if isinstance(value, int) and -(2**63) <= value < 2**63 else -1 for value in values]
