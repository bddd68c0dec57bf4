"""The header of a RecordIO image in plain Python: flag, label and two ids, then labels if there are several.

=======  =========  ==================================================================
offset   type       field
=======  =========  ==================================================================
0        uint32     flag: 0 for a scalar label, else the number of labels that follow
4        float32    label: the scalar label, 0.0 if labels follow
8        uint64     id
16       uint64     id2
24       float32    flag labels
...      bytes      data
=======  =========  ==================================================================

All little-endian, no padding.
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
class Unpacked:
    """The fields of a packed record; `label` is a float if `flag` is 0, else float32 of shape (flag,)."""

    flag: int
    label: Label
    id: int
    id2: int
    data: bytes


def pack(label: float | npt.ArrayLike, id_: int, id2: int, data: bytes) -> bytes:
    """Return the bytes of one record: header, labels and data.

    Parameters
    ----------
    label : number or array of numbers
        A number is stored in the header with flag 0. Anything else is flattened in C order and stored behind
        the header as float32, flag being their count; an empty array is therefore the scalar label 0.
    id_, id2 : int
        0 to 2**64 - 1.
    data : bytes
        Usually an encoded image; may be empty.

    Raises
    ------
    struct.error
        An id is outside its range.
    OverflowError
        A scalar label is outside the range of float32.
    """
    if isinstance(label, int | float | np.number):
        return struct.pack("<IfQQ", 0, label, id_, id2) + data
    labels = np.asarray(label, dtype="<f4").ravel()
    return struct.pack("<IfQQ", labels.size, 0.0, id_, id2) + labels.tobytes() + data


def unpack(payload: bytes) -> Unpacked:
    """Return the fields of a packed record.

    Raises
    ------
    OracleError
        ``bad_payload`` at offset 0: fewer than 24 bytes, or fewer labels than the flag promises.
    """
    if len(payload) < HEADER_BYTES:
        raise OracleError("bad_payload", 0)
    flag, label, id_, id2 = struct.unpack("<IfQQ", payload[:HEADER_BYTES])
    data_start = HEADER_BYTES + 4 * flag
    if len(payload) < data_start:
        raise OracleError("bad_payload", 0)
    if flag:
        label = np.frombuffer(payload[HEADER_BYTES:data_start], dtype="<f4")
    return Unpacked(flag, label, id_, id2, payload[data_start:])
