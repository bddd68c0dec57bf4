"""Damaged RecordIO files, and what MXRecordIO delivers from each."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

from recipes import isolate, mx_records
from recipes.frames import MAGIC, recordio_part
from recipes.tfrecord_damage import flip, strangers
from recipes.values import write_json

WORD = struct.pack("<I", MAGIC)
SPLIT = recordio_part(b"left", 1) + recordio_part(b"in.the.m", 2) + recordio_part(b"right", 3)
FRAMES = [
    recordio_part(b"first record"),
    recordio_part(b""),
    SPLIT,
    recordio_part(b"fourth, padded"),
    recordio_part(b"fifth"),
]
PAYLOADS = [b"first record", b"", b"left" + WORD + b"in.the.m" + WORD + b"right", b"fourth, padded", b"fifth"]
STARTS = [sum(len(frame) for frame in FRAMES[:position]) for position in range(len(FRAMES))]
WHOLE = b"".join(FRAMES)
THIRD, FOURTH = STARTS[2], STARTS[3]
SECOND_PART, LAST_PART = THIRD + 12, THIRD + 28


def cuts() -> dict[str, bytes]:
    """Return files cut inside headers, payloads, padding and between the parts of a record."""
    places = {"header": FOURTH, "first_header": 0, "part_header": SECOND_PART}
    cases = {f"cut_{name}_{left}": WHOLE[: start + left] for name, start in places.items() for left in (1, 4, 7)}
    size = len(PAYLOADS[3])
    cases |= {f"cut_payload_{left:02}": WHOLE[: FOURTH + 8 + left] for left in (0, 1, 4, size - 1, size, size + 1)}
    cases |= {"cut_between_parts_1": WHOLE[:SECOND_PART], "cut_between_parts_2": WHOLE[:LAST_PART]}
    return cases | {"cut_part_payload": WHOLE[: SECOND_PART + 10], "cut_last_padding": WHOLE[:-3]}


def flips() -> dict[str, bytes]:
    """Return files with one bit changed in each part of a frame."""
    cases = {"flip_payload": flip(WHOLE, FOURTH + 10), "flip_padding": flip(WHOLE, FOURTH + 8 + 14, 6)}
    cases |= {f"flip_magic_{byte}": flip(WHOLE, FOURTH + byte, 2) for byte in range(4)}
    cases |= {"flip_first_magic": flip(WHOLE, 0), "flip_part_magic": flip(WHOLE, SECOND_PART)}
    bits = {"1": (0, 0), "2": (0, 1), "4": (0, 2), "8": (0, 3), "256": (1, 0), "2e28": (3, 4)}
    cases |= {f"flip_length_{name}": flip(WHOLE, FOURTH + 4 + byte, bit) for name, (byte, bit) in bits.items()}
    cases["flip_part_length_4"] = flip(WHOLE, SECOND_PART + 4, 2)
    return cases


def cflags() -> dict[str, bytes]:
    """Return files whose fourth record, or whose parts, carry a wrong cflag."""
    cases = {}
    for cflag in range(1, 8):
        wrong = recordio_part(b"fourth, padded", cflag)
        cases[f"cflag_{cflag}_on_a_whole_record"] = WHOLE[:FOURTH] + wrong + FRAMES[4]
        cases[f"cflag_{cflag}_on_the_last_record"] = WHOLE[:FOURTH] + wrong
    first, middle, last = (recordio_part(b"part", cflag) for cflag in (1, 2, 3))
    orders = {"two_firsts": first + first + last, "no_first": middle + last, "no_last": first + middle}
    orders |= {"middle_only": middle, "last_only": last, "first_then_whole": first + FRAMES[3]}
    for name, parts in orders.items():
        cases[f"parts_{name}"] = WHOLE[:FOURTH] + parts + FRAMES[4]
    cases["magic_not_split"] = WHOLE[:FOURTH] + recordio_part(b"abcd" + WORD + b"efgh") + FRAMES[4]
    return cases


def others() -> dict[str, bytes]:
    """Return files with zeros in them, or of another format."""
    cases = {f"zeros_appended_{count:02}": WHOLE + bytes(count) for count in (1, 3, 4, 8, 32)}
    cases |= {f"zeros_hole_{count:02}": WHOLE[:FOURTH] + bytes(count) + WHOLE[FOURTH:] for count in (4, 8, 32)}
    cases["zeros_over_record"] = WHOLE[:FOURTH] + bytes(len(FRAMES[3])) + WHOLE[FOURTH + len(FRAMES[3]) :]
    cases["padding_not_zero"] = WHOLE.replace(b"fourth, padded\0\0", b"fourth, padded\xff\x01")
    kept = ("html", "lfs_pointer", "text", "tar", "ofrecord", "png")
    cases |= {name: data for name, data in strangers().items() if name in kept}
    big_endian = struct.pack(">II", MAGIC, 4) + b"abcd"
    return cases | {"big_endian": big_endian, "garbage_after": WHOLE + b"garbage!", "garbage_before": b"....." + WHOLE}


def damaged() -> dict[str, bytes]:
    """Return every file by name."""
    return {"whole": WHOLE, "empty": b"", **cuts(), **flips(), **cflags(), **others()}


def look(folder: Path, name: str) -> dict[str, Any]:
    """Return the records that MXRecordIO delivers from a damaged file, and the error that follows."""
    records, error = mx_records.read(folder / f"{name}.rec")
    return {"records": [raw.hex() for raw in records], "error": error}


def record(out: Path, script: Path) -> None:
    """Write OUT/damage: the files and expected.json."""
    folder = out / "damage"
    folder.mkdir(parents=True, exist_ok=True)
    cases = damaged()
    for name, data in cases.items():
        (folder / f"{name}.rec").write_bytes(data)
    found = isolate.run_cases(script, list(cases), folder)
    rows = [
        {"path": f"{name}.rec", **{key: value for key, value in found[name].items() if key != "log"}} for name in cases
    ]
    whole = {"payloads": [payload.hex() for payload in PAYLOADS], "offsets": STARTS}
    write_json(folder / "expected.json", {**whole, "cases": rows})
