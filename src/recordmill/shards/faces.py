"""Face data sets in MXNet RecordIO: which records are images, and which images show whom."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.errors import FormatError
from recordmill.formats.recordio.faces import read_layout, read_property
from recordmill.formats.recordio.payload import IRHEADER
from recordmill.schema import Feature, Schema
from recordmill.shards.reader import ShardReader
from recordmill.storage.local import LOCAL

_SCHEMA = Schema({"label": Feature("float32", (None,)), "data": Feature("bytes")})


@dataclass(frozen=True, eq=False, slots=True)
class Faces:
    """Where the images of a face data set are.

    Parameters
    ----------
    images : ndarray of int64, shape (num_images,)
        Positions in the shard, in the order of the keys; header and identity records are left out.
    identities : ndarray of int64, shape (num_identities, 2)
        Images ``identities[i, 0]`` … ``identities[i, 1] - 1`` show person ``i``, as rows of `images`; empty for sets
        that have no header record.
    properties : dict of str to int
        ``num_identities``, ``height``, ``width`` and, if it is there, ``num_images`` of the ``property`` file.
    """

    images: NDArray[np.int64]
    identities: NDArray[np.int64]
    properties: dict[str, int]


def read_faces(path: str | os.PathLike[str]) -> Faces:
    """Tell images from the other records of an insightface data set.

    Keys come from the ``.idx`` beside the shard; without one they are the positions.

    Parameters
    ----------
    path : path
        ``train.rec``.

    Returns
    -------
    Faces

    Raises
    ------
    FormatError
        The shard is no MXNet RecordIO, or its header, its identities or the ``property`` file do not fit.
    KeyError
        The index file lacks a key.

    Examples
    --------
    >>> faces = read_faces("train.rec")  # doctest: +SKIP
    >>> open("train.rec").fetch(faces.images[:8])  # doctest: +SKIP
    """
    with ShardReader(path, format="recordio") as reader:
        layout = read_layout(*_header(reader), len(reader)) if len(reader) else read_layout(0, 0, 0)
        images = _positions(reader, layout.images)
        labels = _records(reader, _positions(reader, layout.identities))["label"]
    return Faces(images, _ranges(labels, layout.images, os.fspath(path)), _properties(path))


def _header(reader: ShardReader) -> tuple[Any, int]:
    """Label and number of data bytes of the record with key 0."""
    found = _records(reader, np.array([reader.position_of(0)]))
    return found["label"][0], len(found["data"][0])


def _records(reader: ShardReader, positions: NDArray[np.int64]) -> dict[str, Any]:
    return IRHEADER.parse(reader.fetch_ragged(positions), _SCHEMA)


def _positions(reader: ShardReader, keys: range) -> NDArray[np.int64]:
    return np.fromiter(map(reader.position_of, keys), np.int64, len(keys))


def _ranges(labels: Any, images: range, shard: str) -> NDArray[np.int64]:
    """Rows of the images of each identity, from the keys that its label names."""
    counts = np.diff(labels.row_splits)
    keys = labels.data.reshape(-1, 2) if (counts == 2).all() else np.full((1, 2), np.nan)
    rows = keys.astype(np.int64) - images.start if np.isfinite(keys).all() else np.full((1, 2), -1)
    if ((rows < 0) | (rows > len(images))).any() or (rows[:, 0] > rows[:, 1]).any():
        raise FormatError(
            "an identity of a face data set does not name its images",
            kind="bad_identity",
            shard=shard,
            expected=f"two keys from {images.start} to {images.stop}",
            found=str(labels.to_list()[:3]),
        )
    return rows


def _properties(path: str | os.PathLike[str]) -> dict[str, int]:
    name = os.path.join(os.path.dirname(path), "property")
    return read_property(LOCAL.read(name)) if LOCAL.exists(name) else {}
