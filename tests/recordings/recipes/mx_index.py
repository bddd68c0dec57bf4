"""What MXIndexedRecordIO makes of .idx files: its own, and ones with odd lines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mxnet as mx

from recipes.mx_records import error_json
from recipes.values import write_json

KEY_TYPES = {"int": int, "str": str}
PAYLOADS = [b"record_0", b"record_1 longer", b"", b"record_3", b"record_4"]
OFFSETS = [0, 16, 40, 48, 64]


def written_by_mxnet() -> dict[str, tuple[str, list[Any]]]:
    """Return by name the key type and the keys under which the five records are written."""
    return {
        "integers": ("int", [0, 1, 2, 3, 4]),
        "large_and_negative": ("int", [7, -3, 2**63, 10**20, 0]),
        "text": ("str", ["cat/1", "dog 2", "ключ", "0", "5"]),
        "text_one_key_empty": ("str", ["a", "", "c", "d", "e"]),
        "text_key_with_spaces_around": ("str", [" a", "b ", "c", "d", "e"]),
        "duplicates": ("int", [1, 2, 1, 3, 2]),
    }


def by_hand() -> dict[str, tuple[str, bytes]]:
    """Return by name the key type and the bytes of .idx files over the same five records."""
    rows = [f"{key}\t{offset}" for key, offset in enumerate(OFFSETS)]
    return {
        "crlf": ("int", "\r\n".join([*rows, ""]).encode()),
        "no_last_newline": ("int", "\n".join(rows).encode()),
        "more_columns": ("int", "".join(f"{row}\textra\tmore\n" for row in rows).encode()),
        "spaces_around": ("int", "".join(f"  {row}  \n" for row in rows).encode()),
        "spaces_inside": ("int", "".join(row.replace("\t", " \t ") + "\n" for row in rows).encode()),
        "leading_zeros_and_signs": ("int", b"00\t000\n+1\t+16\n-2\t40\n1_0\t48\n"),
        "reversed": ("int", "".join(f"{row}\n" for row in rows[::-1]).encode()),
        "missing_line": ("int", "".join(f"{row}\n" for row in rows[:1] + rows[3:]).encode()),
        "empty": ("int", b""),
        "one_offset_twice": ("int", b"0\t0\n1\t0\n"),
        "spaces_for_tabs": ("int", b"0 0\n1 16\n"),
        "spaces_for_tabs_text": ("str", b"a 0\nb 16\n"),
        "blank_line": ("int", b"0\t0\n\n1\t16\n"),
        "blank_line_text": ("str", b"a\t0\n\nb\t16\n"),
        "blank_last_line": ("int", b"0\t0\n1\t16\n\n"),
        "key_is_no_integer": ("int", b"0\t0\nb\t16\n"),
        "offset_is_no_integer": ("int", b"0\t0\n1\t16.0\n"),
        "key_only": ("int", b"0\t0\n1\n"),
        "a_comment": ("int", b"# key offset\n0\t0\n"),
        "offset_between_records": ("int", b"0\t0\n1\t4\n2\t16\n"),
        "offset_not_aligned": ("int", b"0\t0\n1\t17\n"),
        "offset_at_the_end": ("int", b"0\t0\n1\t80\n"),
        "offset_beyond_the_end": ("int", b"0\t0\n1\t8000\n"),
        "negative_offset": ("int", b"0\t0\n1\t-16\n"),
        "byte_order_mark": ("int", b"\xef\xbb\xbf0\t0\n1\t16\n"),
    }


def _read_key(reader: Any, key: Any) -> dict[str, Any]:
    try:
        raw = reader.read_idx(key)
    except Exception as error:  # which class it is belongs to the recording
        return {"error": error_json(error)}
    return {"record": None if raw is None else raw.hex()}


def look(idx: Path, rec: Path, key_type: str) -> dict[str, Any]:
    """Return the keys, the key-to-offset table and the record under every key, or the error of opening."""
    try:
        opened = mx.recordio.MXIndexedRecordIO(str(idx), str(rec), "r", KEY_TYPES[key_type])
    except Exception as error:  # as above
        return {"error": error_json(error)}
    found = {"keys": list(opened.keys), "offsets": [[key, offset] for key, offset in opened.idx.items()], "read": []}
    for key in opened.idx:
        fresh = mx.recordio.MXIndexedRecordIO(str(idx), str(rec), "r", KEY_TYPES[key_type])  # an end of file sticks
        found["read"].append([key, _read_key(fresh, key)])
    return found


def record(out: Path) -> None:
    """Write OUT/index: records.rec, the .idx files and expected.json."""
    folder = out / "index"
    folder.mkdir(parents=True, exist_ok=True)
    rec, cases = folder / "records.rec", []
    for name, (key_type, keys) in written_by_mxnet().items():
        writer = mx.recordio.MXIndexedRecordIO(str(folder / f"{name}.idx"), str(rec), "w", KEY_TYPES[key_type])
        for key, payload in zip(keys, PAYLOADS, strict=True):
            writer.write_idx(key, payload)
        writer.close()
        cases.append({"idx": f"{name}.idx", "key_type": key_type, "by": "mxnet", "written": keys})
    for name, (key_type, content) in by_hand().items():
        (folder / f"{name}.idx").write_bytes(content)
        cases.append({"idx": f"{name}.idx", "key_type": key_type, "by": "hand"})
    for case in cases:
        case["found"] = look(folder / case["idx"], rec, case["key_type"])
    unknown = _read_key(mx.recordio.MXIndexedRecordIO(str(folder / "integers.idx"), str(rec), "r"), 99)
    records = [payload.hex() for payload in PAYLOADS]
    write_json(
        folder / "expected.json", {"path": "records.rec", "records": records, "unknown_key": unknown, "cases": cases}
    )
