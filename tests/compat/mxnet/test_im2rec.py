"""im2rec: lists and records equal those of MXNet byte for byte, images pixel for pixel."""

from __future__ import annotations

import io
import shutil
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import recordmill.compat.mxnet as mx
from recordmill.compat.mxnet import im2rec, rec2idx
from tests.recorded import RECORDINGS, load_cases, load_recording

LISTS = RECORDINGS / "mxnet" / "lists"
PACKED = {row["path"].split("/")[1][:-4] for row in load_cases("mxnet/lists/expected.json", "files")}
FAILED = {row["name"] for row in load_cases("mxnet/lists/expected.json", "packings") if row["exit"]}
# Encoders differ in the bytes of PNG; the pixels are the same.
ENCODED = {"encoded", "encoded_quality_50", "encoded_png", "resized", "cropped", "grey"}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working copy of the recorded folder, without the output of im2rec."""
    shutil.copytree(LISTS / "pictures", tmp_path / "pictures")
    (tmp_path / "pictures" / "empty_folder").mkdir(exist_ok=True)
    (tmp_path / "packed").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def packed(folder: Path, row) -> tuple[bytes, bytes]:
    shutil.copy(LISTS / row["list"], folder / "packed" / f"{row['name']}.lst")
    assert im2rec.main(row["arguments"]) == 0
    return tuple((folder / "packed" / f"{row['name']}{ending}").read_bytes() for ending in (".rec", ".idx"))


def recorded(name: str) -> tuple[bytes, bytes]:
    return tuple((LISTS / "packed" / f"{name}{ending}").read_bytes() for ending in (".rec", ".idx"))


@pytest.mark.parametrize("row", load_cases("mxnet/lists/expected.json", "listings"), ids=lambda row: row["name"])
def test_im2rec_lists_equal_mxnet(row, folder, capsys) -> None:
    assert im2rec.main(row["arguments"]) == 0
    assert capsys.readouterr().out.split("\n")[:-1] == row["said"]
    assert sorted(path.name for path in folder.glob("*.lst")) == row["lists"]
    for name in row["lists"]:
        assert (folder / name).read_bytes() == (LISTS / "lists" / name).read_bytes()


@pytest.mark.parametrize(
    "row",
    [row for row in load_cases("mxnet/lists/expected.json", "packings") if row["name"] in PACKED - ENCODED],
    ids=lambda row: row["name"],
)
def test_im2rec_pass_through_records_equal_mxnet(row, folder) -> None:
    assert packed(folder, row) == recorded(row["name"])


@pytest.mark.parametrize(
    "row",
    [row for row in load_cases("mxnet/lists/expected.json", "packings") if row["name"] in ENCODED],
    ids=lambda row: row["name"],
)
def test_im2rec_encoded_pixels_equal_mxnet(row, folder) -> None:
    packed(folder, row)
    ours = mx.recordio.MXIndexedRecordIO(f"packed/{row['name']}.idx", f"packed/{row['name']}.rec", "r")
    theirs = [str(LISTS / "packed" / f"{row['name']}{ending}") for ending in (".idx", ".rec")]
    original = mx.recordio.MXIndexedRecordIO(*theirs, "r")
    assert ours.keys == original.keys
    for key in ours.keys:
        (header, data), (other, expected) = (mx.recordio.unpack(one.read_idx(key)) for one in (ours, original))
        assert header == other
        pictures = [np.asarray(Image.open(io.BytesIO(one))) for one in (data, expected)]
        np.testing.assert_array_equal(*pictures)


@pytest.mark.parametrize(
    "row",
    [row for row in load_cases("mxnet/lists/expected.json", "packings") if row["name"] in FAILED],
    ids=lambda row: row["name"],
)
def test_im2rec_skips_and_names_bad_images(row, folder, capsys) -> None:
    packed(folder, row)
    output = capsys.readouterr()
    assert "nowhere.jpg" in output.out or "notes.txt" in output.out
    assert "skipped 1 images" in output.err
    record = mx.recordio.MXIndexedRecordIO(f"packed/{row['name']}.idx", f"packed/{row['name']}.rec", "r")
    assert record.keys == [0, 2]


def test_recorded_failures_are_complete() -> None:
    assert {"missing_picture", "broken_picture"} == FAILED and len(PACKED) > 10


def test_im2rec_reports_missing_lists(folder, capsys) -> None:
    assert im2rec.main(["nothing", "pictures"]) == 0
    assert "Did not find and list file" in capsys.readouterr().out


def test_im2rec_fails_without_folder(folder) -> None:
    assert im2rec.main(["a", "nowhere"]) == 2


def test_im2rec_ignores_links_to_parents(folder) -> None:
    (folder / "pictures" / "cat" / "again").symlink_to(folder / "pictures")
    assert im2rec.main(["--list", "--recursive", "all", "pictures"]) == 0
    assert len((folder / "all.lst").read_text().splitlines()) == 8


def test_rec2idx_writes_offsets(folder) -> None:
    row = next(row for row in load_recording("mxnet/lists/expected.json")["packings"] if row["name"] == "pass_through")
    _, index = packed(folder, row)
    assert rec2idx.main(["packed/pass_through.rec", "new.idx"]) == 0
    offsets = [line.split("\t")[1] for line in index.decode().splitlines()]
    assert [line.split("\t") for line in Path("new.idx").read_text().splitlines()] == [
        [str(key), offset] for key, offset in enumerate(offsets)
    ]


def test_rec2idx_fails_on_damaged_file(folder, capsys) -> None:
    Path("cut.rec").write_bytes((LISTS / "packed" / "pass_through.rec").read_bytes()[:-6])
    assert rec2idx.main(["cut.rec", "cut.idx"]) == 1
    assert "cut.rec" in capsys.readouterr().err and not Path("cut.idx").exists()


def test_im2rec_rejects_zero_chunks(folder, capsys) -> None:
    with pytest.raises(SystemExit) as caught:
        im2rec.main(["--list", "--chunks", "0", "x", str(folder)])
    assert caught.value.code == 2
    assert "at least 1, got 0" in capsys.readouterr().err
