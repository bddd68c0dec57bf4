"""Tells whether MXNet reads exactly what is expected: python check_with_mxnet.py FOLDER.

FOLDER/expected.json is {"files": [file, ...]}, each file being
    path       its name in FOLDER
    records    the payloads in hexadecimal, in order, as MXRecordIO reads them
    headers    optional, per record what mx.recordio.unpack must find: {"flag", "label", "id", "id2", "data"}, where
               label is the eight digits of a float32 (flag 0) or a list of them, and data its length in bytes
    idx        optional, the name of the index, which MXIndexedRecordIO opens
    key_type   with idx: "int" or "str"
    keys       with idx: the keys in file order; record i stands under key i, of equal keys the last counts

Exit status 0: all equal; 1: the differences are printed. Runs in the environment of make_mxnet.py.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import mxnet as mx
from recipes.differences import check, differences
from recipes.mx_headers import summary_json
from recipes.mx_index import KEY_TYPES
from recipes.mx_records import read


def check_index(folder: Path, file: dict[str, Any]) -> list[str]:
    """Compare the keys of the index, and the record under each."""
    rec, idx = str(folder / file["path"]), str(folder / file["idx"])
    reader = mx.recordio.MXIndexedRecordIO(idx, rec, "r", KEY_TYPES[file["key_type"]])
    lines = differences(f"{file['idx']} keys", file["keys"], list(reader.keys))
    if lines:
        return lines
    under = dict(zip(file["keys"], file["records"], strict=True))
    for key in reversed(under):  # not the order of the file, so that each is sought
        raw = reader.read_idx(key)
        lines += differences(f"{file['idx']} key {key!r}", under[key], None if raw is None else raw.hex())
    return lines


def check_file(folder: Path, file: dict[str, Any]) -> list[str]:
    """Compare the payloads of a file in order, then its headers and its index."""
    name = file["path"]
    records, error = read(folder / name)
    lines = [f"{name}: {error['class']}: {error['message']}"] if error else []
    lines += differences(name, file["records"], [raw.hex() for raw in records])
    if "headers" in file and not lines:
        lines += differences(f"{name} headers", file["headers"], [summary_json(raw) for raw in records])
    return lines + (check_index(folder, file) if "idx" in file else [])


if __name__ == "__main__":
    sys.exit(check(Path(sys.argv[1]), "files", check_file))
