"""OFRecord data sets in parts, as OneFlow's reader and decoders read them."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from recipes.edges import FLOAT_EDGES, INT_EDGES, feature
from recipes.frames import ofrecord
from recipes.of_messages import DOUBLE_EDGES, INT32_EDGES, message_of
from recipes.of_reading import decode, messages_json, part_paths, split_frames
from recipes.values import write_json

LABEL_FIELDS: dict[str, dict[str, Any]] = {
    "images": {"decoder": "bytes"},
    "labels": {"decoder": "raw", "dtype": "int32", "shape": [1]},
}


def labelled(count: int) -> list[bytes]:
    """Return records with the features of the tutorials: one byte string, one int32."""
    rows = []
    for number in range(count):
        picture = b"\x89PNG not a picture " + bytes([number]) * number
        forms = {"images": feature("bytes_list", [picture.hex()]), "labels": feature("int32_list", [number - 2])}
        rows.append(message_of(forms).SerializeToString(deterministic=True))
    return rows


def all_kinds() -> tuple[list[bytes], dict[str, dict[str, Any]]]:
    """Return two records with a list of every kind, and the fields to decode."""
    forms = {
        "raw": feature("bytes_list", [bytes(range(256)).hex()]),
        "floats": feature("float_list", FLOAT_EDGES),
        "doubles": feature("double_list", DOUBLE_EDGES),
        "int32s": feature("int32_list", INT32_EDGES),
        "int64s": feature("int64_list", INT_EDGES),
    }
    other = {key: feature(form["kind"], form["values"][::-1]) for key, form in forms.items()}
    dtypes = {"floats": "float32", "doubles": "float64", "int32s": "int32", "int64s": "int64"}
    fields: dict[str, dict[str, Any]] = {"raw": {"decoder": "bytes"}}
    for key, dtype in dtypes.items():
        fields[key] = {"decoder": "raw", "dtype": dtype, "shape": [len(forms[key]["values"])]}
    return [message_of(row).SerializeToString(deterministic=True) for row in (forms, other)], fields


def cut(stream: bytes, places: list[int]) -> list[bytes]:
    """Return the pieces of a byte stream between the places."""
    bounds = [0, *places, len(stream)]
    return [stream[start:stop] for start, stop in pairwise(bounds)]


def data_sets() -> dict[str, tuple[dict[str, Any], list[bytes], dict[str, Any]]]:
    """Return by folder: the reader's settings, the bytes of each part, and the fields."""
    frames = [ofrecord(message) for message in labelled(11)]
    sizes = [len(frame) for frame in frames]
    starts = [sum(sizes[:position]) for position in range(len(frames))]
    stream = b"".join(frames)
    kinds, kind_fields = all_kinds()
    wide = {"part_name_suffix_length": 5}
    in_threes = [b"".join(frames[start : start + 3]) for start in (0, 3, 6, 9)]
    return {
        "plain": ({}, in_threes, LABEL_FIELDS),
        "padded": (wide, in_threes, LABEL_FIELDS),
        "eleven_parts": ({}, frames, LABEL_FIELDS),
        "padded_to_two": ({"part_name_suffix_length": 2}, frames, LABEL_FIELDS),
        "other_prefix": ({"part_name_prefix": "train_", "part_name_suffix_length": 3}, in_threes, LABEL_FIELDS),
        "no_prefix": ({"part_name_prefix": ""}, in_threes[:2], LABEL_FIELDS),
        "cut_inside_a_length": ({}, cut(stream, [starts[2] + 3, starts[7] + 7]), LABEL_FIELDS),
        "cut_after_a_length": ({}, cut(stream, [starts[4] + 8]), LABEL_FIELDS),
        "cut_inside_a_message": ({}, cut(stream, [starts[3] + 20, starts[5] - 1]), LABEL_FIELDS),
        "one_record_in_four_parts": ({}, cut(stream, [starts[6] + 2, starts[6] + 9, starts[6] + 30]), LABEL_FIELDS),
        "all_kinds": ({}, [b"".join(ofrecord(message) for message in kinds)], kind_fields),
    }


def _record_set(folder: Path, settings: dict[str, Any], parts: list[bytes], fields: dict[str, Any]) -> dict[str, Any]:
    folder.mkdir(parents=True, exist_ok=True)
    row = {"directory": folder.name, **settings, "num_parts": len(parts), "fields": fields}
    for path, content in zip(part_paths(folder, row), parts, strict=True):
        path.write_bytes(content)
    raws = split_frames(b"".join(parts))
    values = decode(folder, row, len(raws))
    filled = {name: {**field, "values": values[name]} for name, field in fields.items()}
    return {**row, "records": [raw.hex() for raw in raws], "examples": messages_json(raws), "fields": filled}


def record(out: Path) -> None:
    """Write OUT/parts: a folder per data set, and expected.json."""
    folder = out / "parts"
    rows = [_record_set(folder / name, *plan) for name, plan in data_sets().items()]
    (folder / "plain" / "part-99").write_bytes(b"not one of the parts")
    labels = [row["fields"]["labels"]["values"] for row in rows if "labels" in row["fields"]]
    if labels[0] != [np.array(number - 2, "<i4").tobytes().hex() for number in range(11)]:
        raise RuntimeError(f"OneFlow read other labels than were written: {labels[0]}")
    write_json(folder / "expected.json", {"sets": rows})
