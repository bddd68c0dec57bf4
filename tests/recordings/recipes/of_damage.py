"""Damaged OFRecord parts, and how OneFlow's reader ends on each.

OneFlow reads ahead: how many good records come out before the process dies is a matter of timing, so of a
crash only the check that failed is recorded. A data set that does not end the process is read twice round.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from recipes import isolate
from recipes.frames import ofrecord
from recipes.of_messages import protobuf_reads
from recipes.of_parts import LABEL_FIELDS, labelled
from recipes.of_reading import decode, outcome
from recipes.tfrecord_damage import flip, strangers
from recipes.values import write_json

MEMORY_GB = 24
MESSAGES = labelled(5)
FRAMES = [ofrecord(message) for message in MESSAGES]
STARTS = [sum(len(frame) for frame in FRAMES[:position]) for position in range(len(FRAMES))]
WHOLE = b"".join(FRAMES)
THIRD, LAST = STARTS[2], STARTS[4]


def damaged() -> dict[str, bytes]:
    """Return every file by name."""
    size = len(MESSAGES[2])
    before, after = WHOLE[:THIRD], WHOLE[STARTS[3] :]
    cases = {"whole": WHOLE, "empty": b""}
    cases |= {f"cut_header_{left}": WHOLE[: LAST + left] for left in (1, 4, 7)}
    cases |= {f"cut_message_{left}": WHOLE[: LAST + 8 + left] for left in (0, 1, 20)}
    cases["cut_one_byte"] = WHOLE[:-1]
    cases |= {f"flip_length_{byte}": flip(WHOLE, THIRD + byte) for byte in (0, 1, 3, 4, 5, 6, 7)}
    cases |= {"flip_length_sign": flip(WHOLE, THIRD + 7, 7), "flip_message_tag": flip(WHOLE, THIRD + 8, 1)}
    text = WHOLE.index(b"not a picture", THIRD)
    cases |= {"flip_value": flip(WHOLE, text), "flip_inner_length": flip(WHOLE, THIRD + 9, 0)}
    stated = {
        "zero": 0,
        "minus_1": -1,
        "one_less": size - 1,
        "one_more": size + 1,
        "2e31": 2**31,
        "2e40": 2**40,
        "2e62": 2**62,
    }
    cases |= {f"length_{name}": before + ofrecord(MESSAGES[2], length) + after for name, length in stated.items()}
    cases |= {f"zeros_appended_{count:02}": WHOLE + bytes(count) for count in (1, 3, 8, 16)}
    cases |= {f"zeros_hole_{count:02}": before + bytes(count) + WHOLE[THIRD:] for count in (3, 8, 16)}
    kept = ("html", "lfs_pointer", "text", "tar", "recordio", "png")
    cases |= {name: data for name, data in strangers().items() if name in kept}
    return cases | {"garbage_after": WHOLE + b"garbage", "garbage_before": b"?" + WHOLE}


def in_parts() -> dict[str, list[bytes | None]]:
    """Return data sets of several parts by name; None is a part that is not there."""
    half = [WHOLE[:THIRD], WHOLE[THIRD:]]
    return {
        "part_empty_first": [b"", *half],
        "part_empty_middle": [half[0], b"", half[1]],
        "part_empty_last": [*half, b""],
        "part_missing_middle": [half[0], None, half[1]],
        "part_missing_last": [*half, None],
        "parts_in_wrong_order": [WHOLE[THIRD + 5 :], WHOLE[: THIRD + 5]],
        "part_cut_then_whole": [WHOLE[: LAST + 12], WHOLE],
    }


def data_sets() -> dict[str, list[bytes | None]]:
    """Return the parts of every case by name."""
    return {**{name: [data] for name, data in damaged().items()}, "missing": [None], **in_parts()}


def look(folder: Path, name: str) -> dict[str, Any]:
    """Return the fields of twice as many records as were stored."""
    settings = {"num_parts": len(data_sets()[name]), "fields": LABEL_FIELDS}
    return {"decoded": decode(folder / name, settings, 2 * len(MESSAGES))}


def record(out: Path, script: Path) -> None:
    """Write OUT/damage: a folder of parts per case, and expected.json."""
    folder, cases = (out / "damage").resolve(), data_sets()
    for name, parts in cases.items():
        for number, data in enumerate(parts):
            if data is not None:
                (folder / name).mkdir(parents=True, exist_ok=True)
                (folder / name / f"part-{number}").write_bytes(data)
    asked = [f"damage:{name}" for name in cases]
    found = isolate.run_cases(script, asked, folder, memory_gb=MEMORY_GB, at_once=1)
    rows = []
    for name, parts in cases.items():
        rows.append({"directory": name, "num_parts": len(parts), **outcome(found[f"damage:{name}"])})
    flipped = {name: protobuf_reads(damaged_message(name)) for name in ("flip_value", "flip_inner_length")}
    whole = {
        "records": [raw.hex() for raw in MESSAGES],
        "offsets": STARTS,
        "fields": LABEL_FIELDS,
        "memory_gb": MEMORY_GB,
    }
    write_json(folder / "expected.json", {**whole, "protobuf": flipped, "cases": rows})


def damaged_message(name: str) -> bytes:
    """Return the third message of a file whose lengths are whole."""
    return damaged()[name][THIRD + 8 : STARTS[3]]
