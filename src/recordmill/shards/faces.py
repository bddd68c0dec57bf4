"""Face recognition datasets in MXNet RecordIO: find the images and the identity that each one shows."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.errors import FormatError
from recordmill.formats.recordio.faces import parse_face_layout, parse_property_file
from recordmill.formats.recordio.payload import IRHEADER
from recordmill.schema import Feature, Schema
from recordmill.shards.reader import ShardReader
from recordmill.storage.choose import choose_storage
from recordmill.suggestions import suggest_arguments

_SCHEMA = Schema({"label": Feature("float32", (None,)), "data": Feature("bytes")})


@dataclass(frozen=True, eq=False, slots=True)
class Faces:
    """Images and identities of a face recognition dataset.

    Parameters
    ----------
    images : ndarray of int64, shape (num_images,)
        Positions of the images in the shard, in the order of their keys. Header and identity records are not included.
    identities : ndarray of int64, shape (num_identities, 2)
        ``images[identities[i, 0]:identities[i, 1]]`` are the images of identity ``i``. Empty if the dataset has no
        header record.
    properties : dict of str to int
        ``num_identities``, ``height``, ``width`` and, if present, ``num_images`` from the ``property`` file; empty if
        there is no such file.
    """

    images: NDArray[np.int64]
    identities: NDArray[np.int64]
    properties: dict[str, int]


@suggest_arguments
def read_faces(path: str | os.PathLike[str]) -> Faces:
    """Find the images and identities of an InsightFace dataset.

    Keys are read from the ``.idx`` file beside the shard; if there is none, positions are used as keys.

    Parameters
    ----------
    path : path
        The shard, usually ``train.rec``.

    Returns
    -------
    Faces

    Raises
    ------
    FormatError
        If the shard is not MXNet RecordIO, or if its header, an identity record or the ``property`` file is invalid.
    KeyError
        If the index file lacks a key.

    Examples
    --------
    >>> faces = rm.read_faces("train.rec")  # doctest: +SKIP
    >>> rm.open("train.rec").fetch(faces.images[:8])  # doctest: +SKIP
    """
    with ShardReader(path, format="recordio") as reader:
        layout = parse_face_layout(*_read_header(reader), len(reader)) if len(reader) else parse_face_layout(0, 0, 0)
        images = _find_positions_of_keys(reader, layout.images)
        labels = _read_records(reader, _find_positions_of_keys(reader, layout.identities))["label"]
    return Faces(images, _parse_identities(labels, layout.images, os.fspath(path)), _read_properties(path))


def _read_header(reader: ShardReader) -> tuple[Any, int]:
    """Read the header record, which has key 0. Return the label of the record, and the size of its `data` in bytes."""
    columns = _read_records(reader, np.array([reader.position_of(0)]))
    return columns["label"][0], len(columns["data"][0])


def _read_records(reader: ShardReader, positions: NDArray[np.int64]) -> dict[str, Any]:
    return IRHEADER.parse(reader.fetch_ragged(positions), _SCHEMA)


def _find_positions_of_keys(reader: ShardReader, keys: range) -> NDArray[np.int64]:
    return np.fromiter(map(reader.position_of, keys), np.int64, len(keys))


def _parse_identities(labels: Any, images: range, shard: str) -> NDArray[np.int64]:
    """Convert the labels of identity records to ranges of positions in `Faces.images`.

    A label consists of two image keys: the first key of the identity, and the key after its last one. `images` is the
    range of all image keys.
    """
    counts = np.diff(labels.row_splits)
    keys = labels.data.reshape(-1, 2) if (counts == 2).all() else np.full((1, 2), np.nan)
    ranges = keys.astype(np.int64) - images.start if np.isfinite(keys).all() else np.full((1, 2), -1)
    if ((ranges < 0) | (ranges > len(images))).any() or (ranges[:, 0] > ranges[:, 1]).any():
        raise FormatError(
            "the label of an identity record must be a range of image keys",
            kind="bad_identity",
            shard=shard,
            expected=f"two keys from {images.start} to {images.stop}",
            found=str(labels.to_list()[:3]),
        )
    return ranges


def _read_properties(path: str | os.PathLike[str]) -> dict[str, int]:
    name = os.path.join(os.path.dirname(os.fspath(path)), "property")
    storage = choose_storage([name])
    return parse_property_file(storage.read(name)) if storage.exists(name) else {}
