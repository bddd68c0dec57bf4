"""MXNet's image header (IRHeader) in plain Python: flag, label, two ids, and further labels.

=======  =========  ==================================================================
offset   type       field
=======  =========  ==================================================================
0        uint32     flag: 0 for a scalar label, otherwise the number of labels
4        float32    label: the scalar label, or 0.0 if flag is not 0
8        uint64     id
16       uint64     id2
24       float32    labels, if flag is not 0
...      bytes      data
=======  =========  ==================================================================

All values are little-endian. There is no padding.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from recordmill.testing.faults import OracleError

HEADER_BYTES = 24

Label = float | npt.NDArray[np.float32]


@dataclass(frozen=True)
class ImageRecord:
    """An unpacked image record. `label` is a float if `flag` is 0, otherwise a float32 array of shape (flag,)."""

    flag: int
    label: Label
    id: int
    id2: int
    data: bytes


def pack(label: float | npt.ArrayLike, id_: int, id2: int, data: bytes) -> bytes:
    """Return the bytes of one image record: header, labels and data.

    Parameters
    ----------
    label : number or array of numbers
        A number is stored in the header with flag 0. An array is flattened in C order and stored after the header
        as float32, with its size as the flag. An empty array is therefore the same as the scalar label 0.
    id_, id2 : int
        0 to 2**64 - 1.
    data : bytes
        Usually an encoded image; may be empty.

    Raises
    ------
    struct.error
        If an id is out of range.
    OverflowError
        If a scalar label is out of the range of float32.
    """
    if isinstance(label, int | float | np.number):
        return struct.pack("<IfQQ", 0, label, id_, id2) + data
    labels = np.asarray(label, dtype="<f4").ravel()
    return struct.pack("<IfQQ", labels.size, 0.0, id_, id2) + labels.tobytes() + data


def unpack(payload: bytes) -> ImageRecord:
    """Return the header fields, labels and data of one image record.

    Raises
    ------
    OracleError
        If there are fewer than 24 bytes, or fewer labels than the flag says: ``bad_payload`` at offset 0.
    """
    if len(payload) < HEADER_BYTES:
        raise OracleError("bad_payload", 0)
    flag, label, id_, id2 = struct.unpack("<IfQQ", payload[:HEADER_BYTES])
    data_start = HEADER_BYTES + 4 * flag
    if len(payload) < data_start:
        raise OracleError("bad_payload", 0)
    if flag:
        label = np.frombuffer(payload[HEADER_BYTES:data_start], dtype="<f4")
    return ImageRecord(flag, label, id_, id2, payload[data_start:])
