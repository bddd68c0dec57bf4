"""RecordIO files written by MXNet's MXRecordIO: every padding, the magic word at every place."""

from __future__ import annotations

import random
import struct
from itertools import pairwise
from pathlib import Path
from typing import Any

import mxnet as mx

from recipes.frames import MAGIC
from recipes.values import write_json

WORD = struct.pack("<I", MAGIC)


def error_json(error: BaseException) -> dict[str, Any]:
    """Return the class of an exception, and its message without times, addresses and stack."""
    text = str(error).replace("\n", " ").split("Stack trace:")[0]
    if "Check failed" in text:
        text = text[text.index("Check failed") :]
    return {"class": type(error).__name__, "message": text.split("  ")[0].strip()}


def write(path: Path, payloads: list[bytes]) -> list[int]:
    """Write payloads with MXNet and return the offset of each."""
    writer = mx.recordio.MXIndexedRecordIO(str(path) + ".offsets", str(path), "w")
    for position, payload in enumerate(payloads):
        writer.write_idx(position, payload)
    writer.close()
    listing = Path(str(path) + ".offsets")
    offsets = [int(line.split("\t")[1]) for line in listing.read_text().splitlines()]
    listing.unlink()
    return offsets


def read(path: Path) -> tuple[list[bytes], dict[str, Any] | None]:
    """Return the records that MXRecordIO delivers and the error that ends the reading, if any."""
    records: list[bytes] = []
    reader = mx.recordio.MXRecordIO(str(path), "r")
    try:
        while (record := reader.read()) is not None:
            records.append(record)
    except mx.base.MXNetError as error:
        return records, error_json(error)
    return records, None


def parts(data: bytes, start: int, stop: int) -> list[list[int]]:
    """Return [offset, cflag, length] of every part between two offsets of a whole file."""
    found = []
    while start < stop:
        word = struct.unpack_from("<I", data, start + 4)[0]
        found.append([start, word >> 29, word & (1 << 29) - 1])
        start += 8 + (found[-1][2] + 3) // 4 * 4
    return found


def payloads() -> dict[str, list[bytes]]:
    """Return the records of each file."""
    source = random.Random(3)
    sizes = [*range(10), 0, 63, 64, 65, 1000]
    aligned = [bytes(range(1, before + 1)) + WORD + b"tail"[:after] for before in range(10) for after in range(5)]
    several = [
        WORD,
        WORD * 2,
        WORD * 5,
        WORD + b"abcd" + WORD,
        WORD + b"abc" + WORD,
        b"abcd" + WORD * 2 + b"e",
        WORD[:3],
    ]
    several += [WORD[2:] + WORD + WORD[:2], b"ab" + WORD * 3, b"", WORD + bytes(4) + WORD + bytes(3), b"end"]
    return {
        "sizes.rec": [source.randbytes(size) for size in sizes],
        "record_i.rec": [f"record_{number}".encode() for number in range(5)],
        "magic_at_every_offset.rec": aligned,
        "magic_several_times.rec": several,
        "only_empty_records.rec": [b"", b"", b""],
        "empty.rec": [],
    }


def _refusals(folder: Path) -> list[dict[str, Any]]:
    """Return what MXNet says to calls it refuses."""
    path = folder / "refused.rec"
    writer = mx.recordio.MXRecordIO(str(path), "w")
    calls = {
        "write text": lambda: writer.write("text"),
        "write 2**29 bytes": lambda: writer.write(bytes(1 << 29)),
        "read while writing": writer.read,
        "flag a": lambda: mx.recordio.MXRecordIO(str(path), "a"),
        "a missing file": lambda: mx.recordio.MXRecordIO("missing.rec", "r"),
    }
    rows = []
    for name, call in calls.items():
        try:
            call()
            rows.append({"name": name, "error": None})
        except Exception as error:  # which class it is belongs to the recording
            rows.append({"name": name, "error": error_json(error)})
    writer.close()
    path.unlink()
    return rows


def record(out: Path) -> None:
    """Write OUT/records: the files, expected.json with the parts of every record, and refusals.json."""
    folder = out / "records"
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for name, content in payloads().items():
        offsets = write(folder / name, content)
        records, error = read(folder / name)
        if error or records != content:
            raise RuntimeError(f"{name}: MXNet did not read what it wrote: {error}")
        data = (folder / name).read_bytes()
        layout = [parts(data, start, stop) for start, stop in pairwise([*offsets, len(data)])]
        files.append({"path": name, "records": [raw.hex() for raw in records], "offsets": offsets, "parts": layout})
    write_json(folder / "expected.json", {"files": files})
    write_json(folder / "refusals.json", {"cases": _refusals(folder)})
