"""The command that packs images: output, label files of both forms, numbers of parts, refusals."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import recordmill.compat.oneflow as flow
from recordmill.compat.oneflow import img2ofrecord
from recordmill.compat.oneflow.record_pb2 import OFRecord
from tests.compat.oneflow.parts import take_labels


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Eleven pictures and a label file, as the defaults of the command expect them."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "images" / "train_set").mkdir(parents=True)
    (tmp_path / "images" / "train_label").mkdir()
    rng = np.random.default_rng(3)
    for number in range(11):
        picture = Image.fromarray(rng.integers(0, 256, (6, 5, 3), np.uint8))
        picture.convert("L" if number % 2 else "RGB").save(tmp_path / "images" / "train_set" / f"{number}.png")
    write_labels(tmp_path, "{}.png")
    return tmp_path


def write_labels(folder: Path, name: str) -> None:
    lines = [json.dumps({name.format(number): number % 10}) for number in range(11)]
    (folder / "images" / "train_label" / "label.txt").write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize("name", ["{}.png", "./images/train_set/{}.png"])
def test_command_when_run_with_defaults_then_prints_and_writes_what_the_tutorial_shows(
    name: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_labels(here, name)
    assert img2ofrecord.main([]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:6] == [
        "The image root is:  ./images/train_set",
        "The amount of OFRecord data part is:  5",
        "The directory of Labels is:  ./images/train_label/label.txt",
        "The image format is:  .png",
        "The OFRecord save directory is:  ./dataset/",
        "Start Processing......",
    ]
    assert lines[6:] == [
        *(f"./images/train_set/{number}.png feature saved" for number in range(11)),
        "Process image successfully !!!",
    ]
    assert sorted(path.name for path in (here / "dataset").iterdir()) == [f"part-{part}" for part in range(5)]
    reader = flow.nn.OFRecordReader("dataset", data_part_num=5)
    assert take_labels(reader, 12) == [number % 10 for number in [*range(11), 0]]


@pytest.mark.parametrize("suffix, encoding", [(".png", "PNG"), (".jpg", "JPEG"), (".tiff", "TIFF")])
def test_pictures_when_packed_then_have_three_channels_in_the_format_asked_for(
    suffix: str, encoding: str, here: Path
) -> None:
    assert img2ofrecord.main(["--img_format", suffix, "--save_dir", "out", "--part_num", "2"]) == 0
    batch = flow.nn.OFRecordReader("out", batch_size=11, data_part_num=2)()
    for number, payload in enumerate(batch.payloads):
        record = OFRecord.FromString(payload)
        assert record.feature["labels"].int32_list.value == [number % 10] and len(record.feature) == 2
        picture = Image.open(io.BytesIO(record.feature["images"].bytes_list.value[0]))
        assert (picture.format, picture.mode) == (encoding, "RGB")
        if encoding != "JPEG":
            stored = Image.open(here / "images" / "train_set" / f"{number}.png").convert("RGB")
            assert picture.tobytes() == stored.tobytes()


@pytest.mark.parametrize("part_num", [1, 3, 10, 11])
def test_parts_when_numbers_do_not_come_out_even_then_are_as_many_as_asked_for(part_num: int, here: Path) -> None:
    assert img2ofrecord.main(["--part_num", str(part_num)]) == 0
    assert len(list((here / "dataset").glob("part*"))) == part_num


def test_command_when_run_twice_then_does_not_double_the_data(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert img2ofrecord.main([]) == 0
    before = [path.read_bytes() for path in sorted((here / "dataset").glob("part*"))]
    assert img2ofrecord.main([]) == 2
    assert "already there" in capsys.readouterr().err
    assert [path.read_bytes() for path in sorted((here / "dataset").glob("part*"))] == before


def test_parts_when_more_than_files_then_are_refused(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert img2ofrecord.main(["--part_num", "12"]) == 2
    assert "The amount of Files should be larger than part_num" in capsys.readouterr().err
    assert not (here / "dataset").exists()


@pytest.mark.parametrize("line", ["3", "no JSON", '{"3.png": "three"}', '{"missing.png": 3}', "[]"])
def test_label_file_when_a_line_is_wrong_then_nothing_is_written(
    line: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with (here / "images" / "train_label" / "label.txt").open("a") as file:
        file.write(line + "\n")
    assert img2ofrecord.main([]) == 2
    found = capsys.readouterr()
    assert ("line 12" in found.err or "missing.png" in found.err) and "successfully" not in found.out
    assert not list((here / "dataset").glob("part*"))


def test_format_when_no_encoder_has_it_then_is_refused(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        img2ofrecord.main(["--img_format", ".gif"])
    assert caught.value.code == 2 and "--img_format" in capsys.readouterr().err
