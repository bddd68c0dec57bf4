"""The command that packs images: output, both forms of label files, numbers of parts, errors."""

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
def working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Create eleven images and a label file where the defaults of the command expect them."""
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
def test_command_with_defaults_prints_and_writes_as_in_the_tutorial(
    name: str, working_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_labels(working_folder, name)
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
    assert sorted(path.name for path in (working_folder / "dataset").glob("[!.]*")) == [
        f"part-{part}" for part in range(5)
    ]
    reader = flow.nn.OFRecordReader("dataset", data_part_num=5)
    assert take_labels(reader, 12) == [number % 10 for number in [*range(11), 0]]


@pytest.mark.parametrize("suffix, encoding", [(".png", "PNG"), (".jpg", "JPEG"), (".tiff", "TIFF")])
def test_command_writes_rgb_images_in_the_requested_format(suffix: str, encoding: str, working_folder: Path) -> None:
    assert img2ofrecord.main(["--img_format", suffix, "--save_dir", "out", "--part_num", "2"]) == 0
    batch = flow.nn.OFRecordReader("out", batch_size=11, data_part_num=2)()
    for number, payload in enumerate(batch.payloads):
        record = OFRecord.FromString(payload)
        assert record.feature["labels"].int32_list.value == [number % 10] and len(record.feature) == 2
        picture = Image.open(io.BytesIO(record.feature["images"].bytes_list.value[0]))
        assert (picture.format, picture.mode) == (encoding, "RGB")
        if encoding != "JPEG":
            stored = Image.open(working_folder / "images" / "train_set" / f"{number}.png").convert("RGB")
            assert picture.tobytes() == stored.tobytes()


@pytest.mark.parametrize("part_num", [1, 3, 10, 11])
def test_command_writes_the_requested_number_of_parts(part_num: int, working_folder: Path) -> None:
    assert img2ofrecord.main(["--part_num", str(part_num)]) == 0
    assert len(list((working_folder / "dataset").glob("part*"))) == part_num


def test_second_run_of_command_does_not_append(working_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert img2ofrecord.main([]) == 0
    before = [path.read_bytes() for path in sorted((working_folder / "dataset").glob("part*"))]
    assert img2ofrecord.main([]) == 2
    assert "already exists" in capsys.readouterr().err
    assert [path.read_bytes() for path in sorted((working_folder / "dataset").glob("part*"))] == before


def test_command_fails_for_more_parts_than_files(working_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert img2ofrecord.main(["--part_num", "12"]) == 2
    assert "The amount of Files should be larger than part_num" in capsys.readouterr().err
    assert not (working_folder / "dataset").exists()


@pytest.mark.parametrize("line", ["3", "no JSON", '{"3.png": "three"}', '{"missing.png": 3}', "[]"])
def test_command_writes_nothing_for_invalid_label_file(
    line: str, working_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with (working_folder / "images" / "train_label" / "label.txt").open("a") as file:
        file.write(line + "\n")
    assert img2ofrecord.main([]) == 2
    found = capsys.readouterr()
    assert ("line 12" in found.err or "missing.png" in found.err) and "successfully" not in found.out
    assert not list((working_folder / "dataset").glob("part*"))


def test_command_fails_for_unsupported_image_format(working_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        img2ofrecord.main(["--img_format", ".gif"])
    assert caught.value.code == 2 and "--img_format" in capsys.readouterr().err
