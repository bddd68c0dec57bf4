"""pack, unpack, pack_img and unpack_img, compared with recordings of MXNet."""

from __future__ import annotations

import math
import pickle
import struct

import numpy as np
import pytest

import recordmill as rm
import recordmill.compat.mxnet as mx
from tests.recorded import load_cases, load_recording

MAKERS = {"int": int, "float": float, "bool": bool, "list": list, "tuple": tuple, "text": str, "none": lambda _: None}
MAKERS |= {name: getattr(np, name) for name in ("float32", "float64", "int64", "uint8")}
MAKERS |= {f"array {name}": lambda value, name=name: np.array(value, name) for name in ("float32", "float64", "int64")}
ERRORS = {"error": struct.error, "ValueError": ValueError, "TypeError": TypeError}


def bits(value) -> str:
    return struct.pack(">f", value).hex()


def describe(payload: bytes):
    header, data = mx.recordio.unpack(payload)
    label = header.label
    labels = bits(label) if isinstance(label, float) else [bits(one) for one in label]
    return {"flag": header.flag, "label": labels, "id": header.id, "id2": header.id2, "data": data.hex()}


def without_nan(found):
    """Replace a NaN label; conversion through a double may change its payload."""
    return (
        "nan"
        if isinstance(found.get("label"), str) and math.isnan(struct.unpack(">f", bytes.fromhex(found["label"]))[0])
        else found
    )


@pytest.mark.parametrize("case", load_cases("mxnet/headers/expected.json", "packs"), ids=lambda case: case["name"])
def test_packed_headers_equal_mxnet(case) -> None:
    label = MAKERS[case["label"]["as"]](case["label"]["values"])
    header = mx.recordio.IRHeader(case["flag"], label, case["id"], case["id2"])
    if "error" in case:
        with pytest.raises(ERRORS[case["error"]["class"]]):
            mx.recordio.pack(header, bytes.fromhex(case["data"]))
        return
    packed = mx.recordio.pack(header, bytes.fromhex(case["data"]))
    assert packed.hex() == case["packed"]
    assert without_nan(describe(packed)) == without_nan(case["unpacked"])


@pytest.mark.parametrize("case", load_cases("mxnet/headers/expected.json", "broken"), ids=lambda case: case["name"])
def test_unpack_fails_on_broken_records_as_mxnet(case) -> None:
    payload = bytes.fromhex(case["packed"])
    if "error" in case["unpacked"]:
        with pytest.raises(ERRORS[case["unpacked"]["error"]["class"]]):
            mx.recordio.unpack(payload)
    else:
        assert without_nan(describe(payload)) == without_nan(case["unpacked"])


def test_header_survives_pickling() -> None:
    header = mx.recordio.IRHeader(flag=0, label=2.0, id=3, id2=0)
    assert repr(header) == "HEADER(flag=0, label=2.0, id=3, id2=0)"
    assert pickle.loads(pickle.dumps(header)) == header


def test_pack_rejects_text() -> None:
    with pytest.raises(TypeError):
        mx.recordio.pack(mx.recordio.IRHeader(0, 1.0, 0, 0), "text")


def pixels_of(recorded):
    if recorded is None:
        return None
    return np.frombuffer(bytes.fromhex(recorded["pixels"]), np.uint8).reshape(recorded["shape"])


IMAGES = list(zip(*(load_recording("mxnet/images/expected.json")[key] for key in ("pictures",)), strict=True))
RECORDS = load_recording("mxnet/images/expected.json")["files"][0]["records"]


@pytest.mark.parametrize("number", range(len(IMAGES)), ids=lambda number: IMAGES[number][0]["name"])
def test_unpack_img_equals_opencv(number) -> None:
    for mode, expected in IMAGES[number][0]["iscolor"].items():
        header, image = mx.recordio.unpack_img(bytes.fromhex(RECORDS[number]), iscolor=int(mode))
        assert header.label == number
        np.testing.assert_array_equal(image, pixels_of(expected), err_msg=mode)


@pytest.mark.parametrize("number", range(len(IMAGES)), ids=lambda number: IMAGES[number][0]["name"])
def test_pack_img_stores_pixels_of_mxnet(number) -> None:
    (row,) = IMAGES[number]
    header = mx.recordio.IRHeader(0, float(number), number, 0)
    packed = mx.recordio.pack_img(header, pixels_of(row["packed_from"]), quality=row["quality"], img_fmt=row["img_fmt"])
    np.testing.assert_array_equal(mx.recordio.unpack_img(packed)[1], pixels_of(row["iscolor"]["-1"]))


@pytest.mark.parametrize("data", [b"", b"no image", b"\xff\xd8\xff\xe0"])
def test_unpack_img_returns_none_for_invalid_images(data) -> None:
    header, image = mx.recordio.unpack_img(mx.recordio.pack(mx.recordio.IRHeader(0, 1, 7, 0), data))
    assert header.id == 7 and image is None


def test_pack_img_rejects_unknown_formats_and_dtypes() -> None:
    header, image = mx.recordio.IRHeader(0, 1, 7, 0), np.zeros((2, 2, 3), np.uint8)
    for wrong in ({"img_fmt": ".nothing"}, {"img_fmt": ".jpg", "img": image.astype(np.float32)}):
        with pytest.raises(mx.MXNetError) as caught:
            mx.recordio.pack_img(header, **{"img": image, **wrong})
        assert isinstance(caught.value, ValueError) and isinstance(caught.value, rm.RecordmillError)


def test_unpack_img_rejects_unknown_iscolor() -> None:
    with pytest.raises(ValueError, match="iscolor"):
        mx.recordio.unpack_img(bytes.fromhex(RECORDS[0]), iscolor=2)


def test_pack_img_rejects_empty_images() -> None:
    header = mx.recordio.IRHeader(0, 1.0, 0, 0)
    with pytest.raises(mx.MXNetError, match="non-empty"):
        mx.recordio.pack_img(header, np.zeros((0, 3, 3), np.uint8))


def test_header_can_be_parsed_with_struct_and_ir_format() -> None:
    recordio = mx.recordio
    packed = recordio.pack(recordio.IRHeader(0, 2.0, 7, 1), b"data")
    assert recordio.struct.unpack(recordio._IR_FORMAT, packed[: recordio._IR_SIZE]) == (0, 2.0, 7, 1)
