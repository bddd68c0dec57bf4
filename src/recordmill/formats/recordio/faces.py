"""Layout of face datasets written by insightface: a header record, then images, then one record per identity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from recordmill.errors import FormatError


@dataclass(frozen=True, slots=True)
class FaceLayout:
    """Keys of the image records and the identity records in a face dataset.

    Parameters
    ----------
    images : range
        Keys of the images.
    identities : range
        Keys of the identities' records; their labels are (first image key, last image key + 1).
    """

    images: range
    identities: range


def parse_face_layout(label: Any, num_bytes: int, num_records: int) -> FaceLayout:
    """Parse the record with key 0, which describes the layout of the dataset.

    Parameters
    ----------
    label : float or array_like
        Label of the record with key 0.
    num_bytes : int
        Length of its data in bytes: 0 for a header record.
    num_records : int
        Number of records in the shard.

    Returns
    -------
    FaceLayout
        If the record with key 0 is itself an image, all keys belong to images.

    Raises
    ------
    FormatError
        If the header record does not match the number of records.
    """
    values = np.asarray(label, np.float64).reshape(-1)
    if num_bytes or len(values) != 2:
        return FaceLayout(range(num_records), range(0))
    end, total = (int(value) if np.isfinite(value) else 0 for value in values)
    # The header stores the number of records as float32, which rounds numbers above 2**24. Round `num_records`, too,
    # before the comparison.
    if not 1 <= end <= total or np.float32(total) != np.float32(num_records):
        message = "the header record of a face dataset does not match its number of records"
        raise FormatError(message, expected=f"two keys from 1 to {num_records}", found=str(values.tolist()))
    return FaceLayout(range(1, end), range(end, total))


def parse_property_file(data: bytes) -> dict[str, int]:
    """Parse the content of a ``property`` file: number of identities, height, width, and optionally number of images.

    Parameters
    ----------
    data : bytes

    Returns
    -------
    dict
        ``{"num_identities", "height", "width"[, "num_images"]}``

    Raises
    ------
    FormatError
        If the first line is not three integers.
    """
    lines = data.decode("ascii", "replace").split()
    fields = lines[0].split(",") if lines else []
    if len(fields) != 3 or not all(field.isdecimal() for field in fields):
        raise FormatError(
            "the property file must begin with three numbers", expected="identities,height,width", found=repr(data[:60])
        )
    names = ("num_identities", "height", "width")
    found = dict(zip(names, map(int, fields), strict=True))
    return found | ({"num_images": int(lines[1])} if len(lines) > 1 and lines[1].isdecimal() else {})
