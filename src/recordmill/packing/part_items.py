"""Store the items of the parts of a plan in one file, so that each worker reads only the items of its part.

Each part is stored as a ZIP file of NumPy arrays (``.npz``) without pickled objects. The file consists of these ZIP
files, one after another.
"""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.concurrency.threads import map_range
from recordmill.packing.chunks import Order
from recordmill.packing.sources.base import Items
from recordmill.types import Ragged

# There are more threads than CPUs, because a thread on a network file system mostly waits for the server.
_STAMP_THREADS = 16


@dataclass(frozen=True, slots=True)
class PartItems:
    """The items of one part of a plan.

    Parameters
    ----------
    items : Items
        In the order of the output.
    positions : ndarray of int64, shape (num_items,)
        Position of each item in the source.
    stamps : ndarray of uint32, shape (num_items,)
        Checksum of the size and modification time of each image file when the plan was made.
    """

    items: Items
    positions: NDArray[np.int64]
    stamps: NDArray[np.uint32]


def select_part(items: Items, order: Order, span: range) -> PartItems:
    """Return the items in a range of the output order; make their paths absolute, and compute their `stamps`."""
    rows = np.arange(span.start, span.stop) if order is None else order[span.start : span.stop]
    part = items.take(slice(span.start, span.stop) if order is None else rows)
    part = replace(
        part,
        root=items.root if items.storage.is_remote else os.path.abspath(items.root),
        mask_root=items.mask_root if items.storage.is_remote else os.path.abspath(items.mask_root),
        # If the source has no root folder, its files may lie anywhere.
        allow_outside=items.allow_outside or not items.root,
        origin=items.origin,
        lines=None if items.lines is None else [items.lines[row] for row in rows.tolist()],
    )
    return PartItems(part, rows.astype(np.int64), _compute_stamps(part))


def _compute_stamps(items: Items) -> NDArray[np.uint32]:
    size = max(-(-len(items) // _STAMP_THREADS), 256)
    count = -(-len(items) // size)
    stamps = map_range(
        lambda part: items.take(slice(part * size, (part + 1) * size)).count_fitting(1 << 62)[1],
        count,
        _STAMP_THREADS,
    )
    return np.concatenate([np.empty(0, np.int64), *stamps]).astype(np.uint32)


def serialize_part(part: PartItems) -> bytes:
    """Serialize the items of a part to bytes."""
    items = part.items
    lines = None if items.lines is None else np.array(items.lines, np.int64)
    columns = {"names": items.names, "keys": items.keys, "labels": items.labels, "masks": items.masks}
    columns |= {"lines": lines, "positions": part.positions, "stamps": part.stamps}
    columns |= {f"extra:{number}": values for number, values in enumerate(items.extra.values())}
    header = {
        "root": items.root,
        "mask_root": items.mask_root,
        "origin": items.origin,
        "allow_outside": items.allow_outside,
        "extra": list(items.extra),
    }
    arrays: dict[str, Any] = {"header": np.frombuffer(json.dumps(header).encode(), np.uint8)}
    for name, values in columns.items():
        if isinstance(values, list | Ragged):
            ragged = _encode_texts(values) if isinstance(values, list) else values
            arrays[f"{name}:data"], arrays[f"{name}:row_splits"] = ragged.data, ragged.row_splits
        elif values is not None:
            arrays[name] = values
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()


def parse_part(data: bytes) -> PartItems:
    """Parse a result of `serialize_part`; raise ValueError if the bytes are invalid."""
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as file:
            arrays = dict(file)
        header = json.loads(arrays["header"].tobytes())
        masks = _read_column(arrays, "masks")
        items = Items(
            _decode_texts(_read_column(arrays, "names")),
            arrays["keys"],
            header["root"],
            _read_column(arrays, "labels"),
            masks=None if masks is None else _decode_texts(masks),
            mask_root=header["mask_root"],
            extra={name: _read_extra_feature(arrays, f"extra:{number}") for number, name in enumerate(header["extra"])},
            origin=header["origin"],
            lines=arrays.get("lines"),
            allow_outside=header["allow_outside"],
        )
        return PartItems(items, arrays["positions"], arrays["stamps"])
    except (KeyError, EOFError, OSError, zipfile.BadZipFile) as error:
        raise ValueError(f"{type(error).__name__}: {error}") from None


def _read_column(arrays: Mapping[str, Any], name: str) -> Any:
    if f"{name}:data" in arrays:
        return Ragged(arrays[f"{name}:data"], arrays[f"{name}:row_splits"])
    return arrays.get(name)


def _read_extra_feature(arrays: Mapping[str, Any], name: str) -> Any:
    column = _read_column(arrays, name)
    return _decode_texts(column) if isinstance(column, Ragged) else column


def _encode_texts(texts: list[str]) -> Ragged:
    return Ragged.from_rows([text.encode("utf-8", "surrogateescape") for text in texts])


def _decode_texts(texts: Ragged) -> list[str]:
    return [bytes(text).decode("utf-8", "surrogateescape") for text in texts]
