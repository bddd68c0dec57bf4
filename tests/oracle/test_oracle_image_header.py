"""The image header oracle against bytes written out by hand."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from hypothesis import given

from recordmill.testing import image_header, strategies
from recordmill.testing.faults import OracleError

SCALAR = bytes.fromhex("00000000 00004040 0700000000000000 0000000000000000")
VECTOR = bytes.fromhex("02000000 00000000 0700000000000000 0100000000000000 0000803f 000000c0")


def test_pack_of_scalar_label_is_header_and_data() -> None:
    assert image_header.pack(3, 7, 0, b"jpg") == SCALAR + b"jpg"


def test_pack_of_label_vector_puts_labels_behind_the_header() -> None:
    assert image_header.pack([1.0, -2.0], 7, 1, b"jpg") == VECTOR + b"jpg"


def test_pack_of_matrix_is_flattened_by_rows() -> None:
    matrix = np.array([[1, 2], [3, 4]])
    assert image_header.pack(matrix, 0, 0, b"") == image_header.pack([1, 2, 3, 4], 0, 0, b"")


def test_pack_of_empty_vector_is_the_scalar_zero() -> None:
    assert image_header.pack([], 7, 0, b"x") == image_header.pack(0.0, 7, 0, b"x")


def test_pack_of_numpy_number_is_a_scalar_but_of_array_without_axes_is_a_vector() -> None:
    assert image_header.pack(np.float32(3), 7, 0, b"") == SCALAR
    assert image_header.unpack(image_header.pack(np.array(3.0), 7, 0, b"")).flag == 1


def test_unpack_of_face_set_header_has_two_labels_and_no_data() -> None:
    unpacked = image_header.unpack(image_header.pack([11, 13], 0, 0, b""))
    assert (unpacked.flag, unpacked.data) == (2, b"")
    assert np.asarray(unpacked.label).tolist() == [11.0, 13.0]


def test_unpack_of_scalar_label_is_rounded_to_float32() -> None:
    assert image_header.unpack(image_header.pack(16777217, 0, 0, b"")).label == 16777216.0


@pytest.mark.parametrize("payload", [b"", SCALAR[:-1], VECTOR[:-1], b"\xff" * 24])
def test_unpack_rejects_too_few_bytes(payload: bytes) -> None:
    with pytest.raises(OracleError) as caught:
        image_header.unpack(payload)
    assert (caught.value.kind, caught.value.offset) == ("bad_payload", 0)


@pytest.mark.parametrize("bad_id", [-1, 2**64])
def test_pack_rejects_id_outside_64_bits(bad_id: int) -> None:
    with pytest.raises(struct.error):
        image_header.pack(0, bad_id, 0, b"")


@given(strategies.image_headers())
def test_unpack_inverts_pack(drawn: tuple[float | list[float], int, int, bytes]) -> None:
    label, id_, id2, data = drawn
    unpacked = image_header.unpack(image_header.pack(label, id_, id2, data))
    assert (unpacked.id, unpacked.id2, unpacked.data) == (id_, id2, data)
    assert unpacked.flag == (len(label) if isinstance(label, list) else 0)
    np.testing.assert_array_equal(unpacked.label, np.asarray(label, np.float32))
