"""Face data sets in the layout of train.rec, train.idx and property, written with MXNet."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mxnet as mx

from recipes.mx_headers import summary_json
from recipes.mx_images import gradient
from recipes.values import write_json

SIDE = 24
IMAGES_OF = {0: 3, 1: 1, 2: 2}  # identity -> pictures


def pictures() -> list[tuple[int, int]]:
    """Return (identity, number) of every picture in key order; keys start at 1."""
    return [(identity, number) for identity, count in IMAGES_OF.items() for number in range(count)]


def picture_record(key: int, identity: int, vector: bool) -> bytes:
    """Return the record of a picture whose label is the identity, alone or first of a vector."""
    label = [float(identity), 0.5, -1.0] if vector else float(identity)
    image = gradient(SIDE, SIDE, seed=key)
    return mx.recordio.pack_img(mx.recordio.IRHeader(0, label, key, 0), image, quality=90)


def with_headers(vector: bool) -> dict[int, bytes]:
    """Return the records by key: the header of the set, the pictures, then the identity ranges."""
    owners = [identity for identity, _ in pictures()]
    first_identity = len(owners) + 1
    total = first_identity + len(IMAGES_OF)
    records = {0: mx.recordio.pack(mx.recordio.IRHeader(2, [first_identity, total], 0, 0), b"")}
    for key, identity in enumerate(owners, 1):
        records[key] = picture_record(key, identity, vector)
    for position, identity in enumerate(IMAGES_OF):
        keys = [key for key, owner in enumerate(owners, 1) if owner == identity]
        header = mx.recordio.IRHeader(2, [keys[0], keys[-1] + 1], first_identity + position, 0)
        records[first_identity + position] = mx.recordio.pack(header, b"")
    return records


def without_headers() -> dict[int, bytes]:
    """Return the records by key of a set whose every key is a picture."""
    return {key: picture_record(key, identity, False) for key, (identity, _) in enumerate(pictures())}


def _write(folder: Path, records: dict[int, bytes]) -> dict[str, Any]:
    folder.mkdir(parents=True, exist_ok=True)
    idx, rec = folder / "train.idx", folder / "train.rec"
    writer = mx.recordio.MXIndexedRecordIO(str(idx), str(rec), "w")
    for key, record_ in records.items():
        writer.write_idx(key, record_)
    writer.close()
    (folder / "property").write_text(f"{len(IMAGES_OF)},{SIDE},{SIDE}\n", encoding="ascii")
    reader = mx.recordio.MXIndexedRecordIO(str(idx), str(rec), "r")
    found = [reader.read_idx(key) for key in reader.keys]
    row = {"path": f"{folder.name}/train.rec", "idx": f"{folder.name}/train.idx", "key_type": "int"}
    headers = [summary_json(raw) for raw in found]
    return {**row, "keys": list(reader.keys), "records": [raw.hex() for raw in found], "headers": headers}


def record(out: Path) -> None:
    """Write OUT/faces: three data sets and expected.json."""
    folder = out / "faces"
    sets = {"scalar": with_headers(False), "vector": with_headers(True), "no_header_record": without_headers()}
    files = [_write(folder / name, records) for name, records in sets.items()]
    about = {"num_identities": len(IMAGES_OF), "side": SIDE, "identities": [identity for identity, _ in pictures()]}
    write_json(folder / "expected.json", {**about, "files": files})
