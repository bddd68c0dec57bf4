"""Shortened values, and types and sizes of images, compared with Pillow."""

from __future__ import annotations

import io
import json
from base64 import b64encode
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from PIL import Image

from recordmill.types import Ragged
from recordmill.value_text import describe_image, find_value_kind, format_value, to_json_value

OPTIONS = {
    "jpeg": {"quality": 60, "comment": b"x" * 70},
    "png": {},
    "gif": {},
    "bmp": {},
    "tiff": {"compression": "tiff_lzw"},
    "webp": {},
}


def _encoded(name: str, size: tuple[int, int], **options: object) -> bytes:
    out = io.BytesIO()
    Image.effect_noise(size, 50).convert("RGB").save(out, name.upper(), **(OPTIONS[name] | options))
    return out.getvalue()


@pytest.mark.parametrize("size", [(1, 1), (37, 300), (513, 2)])
@pytest.mark.parametrize("name", OPTIONS)
def test_describe_image_returns_type_and_size(name: str, size: tuple[int, int]) -> None:
    assert describe_image(_encoded(name, size)) == f"{name} {size[0]}x{size[1]}"


@pytest.mark.parametrize("options", [{"lossless": True}, {"lossless": True, "exif": b"Exif\0\0II*\0\x08\0\0\0\0\0"}])
def test_describe_image_reads_lossless_and_extended_webp(options: dict[str, object]) -> None:
    assert describe_image(_encoded("webp", (41, 19), **options)) == "webp 41x19"


def test_describe_image_reads_progressive_jpeg() -> None:
    assert describe_image(_encoded("jpeg", (40, 30), progressive=True)) == "jpeg 40x30"


@pytest.mark.parametrize("name", OPTIONS)
def test_describe_image_omits_size_of_truncated_image(name: str) -> None:
    data = _encoded(name, (37, 21))
    descriptions = {describe_image(data[:end]) for end in range(min(len(data), 400))}
    assert descriptions <= {None, name, f"{name} 37x21"}


@given(
    st.binary(max_size=64), st.sampled_from([b"", b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"II*\0", b"RIFF    WEBPVP8L"])
)
def test_plain_value_accepts_any_bytes(rest: bytes, head: bytes) -> None:
    plain = to_json_value(head + rest)
    assert plain["num_bytes"] == len(head + rest) and len(plain) == 2
    assert format_value(plain)[1].endswith("bytes")


@pytest.mark.parametrize(
    "value, text",
    [
        (b"", ""),
        (b"plain", "plain"),
        ("Größe".encode(), "Größe"),
        (b"two\nlines", "two\nlines"),
        (b"x" * 60, "x" * 60),
        (b"\x1b[2J", None),
        (b"caf\xe9", None),
        (b"a\0b", None),
    ],
)
def test_plain_value_decodes_text(value: bytes, text: str | None) -> None:
    plain = to_json_value(value)
    assert plain.get("text") == text and "truncated" not in plain
    assert to_json_value(value, full=True) == plain | (
        {} if text is not None else {"base64": b64encode(value).decode()}
    )


@pytest.mark.parametrize("char, count", [("x", 61), ("x", 300), ("ü", 400), ("…", 61)])
def test_plain_value_flags_truncated_text(char: str, count: int) -> None:
    value = (char * count).encode()
    plain = to_json_value(value)
    assert plain == {"num_bytes": len(value), "text": char * 60, "truncated": True}
    assert format_value(plain)[1] == f"'{char * 60}…', {len(value):,} bytes"
    assert to_json_value(value, full=True) == {"num_bytes": len(value), "text": char * count}


def test_plain_value_flags_truncated_array() -> None:
    array = np.arange(600, dtype=np.int32).reshape(20, 30)
    plain = to_json_value(array)
    assert plain == {"kind": "int32", "shape": [20, 30], "values": list(range(16)), "truncated": True}
    assert format_value(plain) == ("20x30", "0, 1, 2, 3, 4, 5, …")
    assert to_json_value(array, full=True) == {"kind": "int32", "shape": [20, 30], "values": list(range(600))}
    assert "truncated" not in to_json_value(array.reshape(-1)[:16])


@pytest.mark.parametrize("rows", [[b"a"] * 5, [np.arange(3)] * 5, [np.arange(17)] * 2])
def test_plain_value_flags_truncated_rows(rows: list[Any]) -> None:
    for value in (rows, Ragged.from_rows(rows)):
        plain, full = to_json_value(value), to_json_value(value, full=True)
        assert "truncated" in json.dumps(plain) and "truncated" not in json.dumps(full)
        assert len(plain["values"]) == min(len(rows), 4) and len(full["values"]) == len(rows)
        assert ("truncated" in plain) == (len(rows) > 4)


def test_plain_value_converts_numpy_scalar() -> None:
    assert to_json_value(np.float32(0.5)) == 0.5 and to_json_value(np.int64(7)) == 7
    assert find_value_kind(np.float32(0.5)) == "float32" and find_value_kind(b"x") == "bytes"


def test_plain_value_describes_rows_of_bytes() -> None:
    ragged = Ragged.from_rows([b"one", b"\xff\0"])
    plain = to_json_value(ragged)
    assert (plain["kind"], plain["shape"], plain["values"][0]) == ("bytes", [2], {"num_bytes": 3, "text": "one"})


def test_plain_value_of_ragged_numbers_has_variable_shape() -> None:
    plain = to_json_value(Ragged.from_rows([np.arange(2, dtype=np.int64), np.arange(5, dtype=np.int64)]))
    assert (plain["kind"], plain["shape"]) == ("int64", [2, None])
    assert format_value(plain)[0] == "2x?"


def test_format_value_of_empty_array_is_none() -> None:
    assert format_value(to_json_value(np.zeros(0, np.int64))) == ("0", "none")
