"""Entry points do not change results, are ignored for other images, and respect their size limit."""

from __future__ import annotations

import io
import zlib

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from PIL import Image

import recordmill as rm
from tests.images import encode_image, encode_jpeg, encode_oriented_jpeg, encode_png, make_pixels

RANDOM = rm.Image(crop=rm.RandomResizedCrop((24, 20), scale=(0.05, 1)), flip=rm.Flip(0.5), orientation="apply")
FILES = [
    encode_jpeg(0, 90, 130),
    encode_jpeg(1, 64, 200, mode="L"),
    encode_jpeg(2, 120, 81, subsampling=0),
    encode_png(3, 60, 70),
    encode_jpeg(4, 100, 100, progressive=True),
    encode_oriented_jpeg(6, 5, 90, 120),
    encode_jpeg(6, 300, 120, restart_marker_rows=3),
    encode_jpeg(7, 90, 130)[:700],
]
POINTS = rm.find_entry_points(FILES, max_share=1)


def forged(table: bytes, at: int, value: int) -> bytes:
    """Change one byte of a table and make its checksum fit again."""
    body = bytearray(table[:-4])
    body[at] = value
    return bytes(body) + zlib.crc32(body).to_bytes(4, "little")


def test_find_entry_points_covers_sequential_jpeg_only() -> None:
    assert [bool(row) for row in POINTS] == [True, True, True, False, False, True, True, False]
    again = rm.find_entry_points(rm.Ragged.from_rows(FILES), max_share=1, threads=3)
    np.testing.assert_array_equal(again.data, POINTS.data)
    np.testing.assert_array_equal(again.row_splits, POINTS.row_splits)


@given(st.integers(0, 2**64 - 1), st.permutations(range(7)), st.sampled_from(["pillow", "opencv", "tensorflow"]))
@settings(max_examples=25)
def test_entry_points_do_not_change_the_batch(seed: int, order: list[int], like: str) -> None:
    files = [FILES[row] for row in range(7)]
    spec = {"image": rm.Image(crop=RANDOM.crop, like=like)}
    plain = rm.decode_batch(files, spec, rng=seed)["image"]
    fast = rm.decode_batch(files, spec, rng=seed, entry_points=POINTS[:7], threads=2)["image"]
    others = rm.decode_batch(files, spec, rng=seed, entry_points=[POINTS[row] for row in order])["image"]
    np.testing.assert_array_equal(fast, plain)
    np.testing.assert_array_equal(others, plain)


@pytest.mark.parametrize(
    "spec",
    [
        rm.Image(stack=False),
        rm.Image(stack=False, orientation="apply"),
        rm.Image(crop=rm.RandomResizedCrop((9, 7)), scale=2),
        rm.Image(crop=rm.RandomCrop((50, 40)), dtype="float16", layout="hwc"),
        rm.Image(crop=rm.RandomCrop((50, 40)), channels="gray", like="tensorflow"),
    ],
)
def test_entry_points_do_not_change_any_spec(spec: rm.Image) -> None:
    chosen = [0, 1, 2, 5, 6]
    files, points = [FILES[row] for row in chosen], {"image": [POINTS[row] for row in chosen]}
    plain = rm.decode_batch(files, {"image": spec}, rng=3)["image"]
    for image, expected in zip(
        rm.decode_batch(files, {"image": spec}, rng=3, entry_points=points)["image"], plain, strict=True
    ):
        np.testing.assert_array_equal(image, expected)


def test_damaged_sample_keeps_entry_points_of_the_others_aligned() -> None:
    specs = {"image": RANDOM}
    plain = rm.decode_batch(FILES, specs, rng=1, on_error="skip")["image"]
    fast = rm.decode_batch(FILES, specs, rng=1, on_error="skip", entry_points=POINTS)["image"]
    assert len(plain) == len(FILES) - 1
    np.testing.assert_array_equal(fast, plain)


def test_forged_entry_points_change_the_crop() -> None:
    table = POINTS[1]
    wrong = forged(table, 18, table[18] ^ 2)
    window = (0, 8, 64, 8)
    sound = rm.decode_jpeg(FILES[1], window=window, entry_points=table)
    np.testing.assert_array_equal(sound, rm.decode_jpeg(FILES[1], window=window))
    assert (rm.decode_jpeg(FILES[1], window=window, entry_points=wrong) != sound).any()


def test_decode_jpeg_rejects_entry_points_of_another_image() -> None:
    for table in (POINTS[1], POINTS[0][:-1], b"no table", forged(POINTS[0], 13, 1)):
        with pytest.raises(rm.ImageError, match="do not belong") as caught:
            rm.decode_jpeg(FILES[0], window=(0, 50, 9, 9), entry_points=table)
        assert caught.value.kind == "bad_entry_points"
    np.testing.assert_array_equal(rm.decode_jpeg(FILES[0], entry_points=b""), rm.decode_jpeg(FILES[0]))


@given(st.data())
@settings(max_examples=40)
def test_damaged_entry_points_are_ignored(data: st.DataObject) -> None:
    row = data.draw(st.sampled_from([0, 1, 2, 6]))
    damaged = bytearray(POINTS[row])
    at = data.draw(st.integers(0, len(damaged) - 1))
    damaged[at] ^= data.draw(st.integers(1, 255))
    spec = {"image": rm.Image(crop=RANDOM.crop)}
    plain = rm.decode_batch([FILES[row]], spec, rng=at)["image"]
    np.testing.assert_array_equal(
        rm.decode_batch([FILES[row]], spec, rng=at, entry_points=[bytes(damaged)])["image"], plain
    )


def test_find_entry_points_respects_max_share() -> None:
    sizes = [(30, 40), (200, 300), (400, 500)]
    files = [encode_image(Image.fromarray(make_pixels(n, *size)), "JPEG", quality=95) for n, size in enumerate(sizes)]
    for share in (0.01, 0.001):
        lengths = np.diff(rm.find_entry_points(files, max_share=share).row_splits)
        assert (lengths <= [len(data) * share for data in files]).all()
        assert lengths[0] == 0
    assert lengths[2] > 0


def test_find_entry_points_skips_files_with_restart_markers() -> None:
    out = io.BytesIO()
    Image.fromarray(make_pixels(1, 200, 200)).save(out, "JPEG", restart_marker_rows=1)
    assert len(rm.find_entry_points([out.getvalue()], max_share=1).data) == 0


def test_invalid_entry_points_raise() -> None:
    files, specs = FILES[:2], {"image": rm.Image(resize=rm.Resize((9, 7)))}
    wrong = [POINTS[:1], {"label": POINTS[:2]}, [1, 2], {"image": np.zeros(2, np.int64)}]
    for points in wrong:
        with pytest.raises(rm.FeatureError):
            rm.decode_batch(files, specs, entry_points=points)
    two = {"a": specs["image"], "b": specs["image"]}
    with pytest.raises(rm.FeatureError, match="one image"):
        rm.decode_batch({"a": files, "b": files}, two, entry_points=POINTS[:2])
    with pytest.raises(ValueError, match="max_share"):
        rm.find_entry_points(files, max_share=0)
    with pytest.raises(ValueError, match="threads"):
        rm.find_entry_points(files, threads=-1)


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("scale", [1, 2])
def test_decode_jpeg_uses_entry_points_of_upright_images(orientation, scale) -> None:
    data = encode_oriented_jpeg(orientation, 5, 90, 120)
    [table] = rm.find_entry_points([data], max_share=1)
    whole = rm.decode_jpeg(data, orientation="apply", scale=scale)
    height, width = whole.shape[:2]
    for x, y, across, down in ((0, 0, width, height), (5, 9, 21, 30), (width - 9, height - 11, 9, 11)):
        call = {"window": (x, y, across, down), "orientation": "apply", "scale": scale}
        found = rm.decode_jpeg(data, entry_points=table, **call)
        np.testing.assert_array_equal(found, whole[y : y + down, x : x + across])
        with pytest.raises(rm.ImageError, match="do not belong"):
            rm.decode_jpeg(data, entry_points=POINTS[0], **call)
    edges = [(0, 0, width, 4), (0, height - 4, width, 4), (0, 0, 4, height), (width - 4, 0, 4, height)]
    options = {"orientation": "apply", "scale": scale}
    sound = [rm.decode_jpeg(data, window=edge, **options) for edge in edges]
    wrong = forged(table, -1, table[-5] ^ 2)
    found = [rm.decode_jpeg(data, window=edge, entry_points=wrong, **options) for edge in edges]
    assert any((part != other).any() for part, other in zip(sound, found, strict=True))
