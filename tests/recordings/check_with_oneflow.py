"""Tells whether OneFlow reads exactly what is expected: python check_with_oneflow.py FOLDER.

FOLDER/expected.json is {"sets": [set, ...]}, each set being
    directory                the folder of the parts, in FOLDER
    num_parts                how many parts; part_name_prefix ("part-") and part_name_suffix_length (-1) are optional
    fields                   {name: field} to decode with OFRecordReader and its decoders; field is
                             {"decoder": "bytes", "values": [...]} or
                             {"decoder": "raw", "dtype": "int32", "shape": [1], "truncate": false, "values": [...]};
                             values are, per record, the bytes in hexadecimal, little-endian (an empty byte string
                             ends OneFlow's process: leave such a field out)
    records                  optional, the messages in hexadecimal, in order
    examples                 optional, per record {key: feature}: what OneFlow's protobuf class must read from it
A feature is {"kind": "bytes_list" | ... | null, "values": [...]}: bytes in hexadecimal, float32 and float64 as the
hexadecimal digits of their bits, integers as they are.

Exit status 0: all equal; 1: the differences are printed. Runs in the environment of make_oneflow.py. OneFlow ends
its process on input it does not like, so each set is decoded in a process of its own.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from recipes.oneflow_runtime import find_cuda_libraries

find_cuda_libraries()

from recipes import isolate  # noqa: E402
from recipes.differences import check, differences  # noqa: E402
from recipes.of_reading import decode, messages_json, outcome, part_paths, split_frames  # noqa: E402

HERE = Path(__file__).resolve()


def look(folder: Path, text: str) -> dict[str, Any]:
    """Return the decoded values of a set, whose settings come as JSON."""
    settings = json.loads(text)
    return {"decoded": decode(folder / settings["directory"], settings, settings["count"])}


def check_set(folder: Path, settings: dict[str, Any]) -> list[str]:
    """Compare the messages of a set, then what the decoders return."""
    name = settings["directory"]
    stream = b"".join(path.read_bytes() for path in part_paths(folder / name, settings))
    raws = split_frames(stream)
    lines = []
    if "records" in settings:
        lines += differences(f"{name} records", settings["records"], [raw.hex() for raw in raws])
    if "examples" in settings:
        lines += differences(f"{name} examples", settings["examples"], messages_json(raws))
    if lines or not settings["fields"]:
        return lines
    asked = {key: value for key, value in settings.items() if key not in ("records", "examples")}
    bare = {key: {**field, "values": None} for key, field in settings["fields"].items()}
    count = max(len(field["values"]) for field in settings["fields"].values())
    text = json.dumps({**asked, "fields": bare, "count": count})
    found = isolate.run_cases(HERE, [text], folder, at_once=1)[text]
    expected = {"decoded": {key: field["values"] for key, field in settings["fields"].items()}}
    return differences(name, expected, outcome(found))


if __name__ == "__main__":
    if sys.argv[1] == isolate.CHILD:
        isolate.child_main(look, sys.argv[2:])
    else:
        sys.exit(check(Path(sys.argv[1]), "sets", check_set))
