"""`recordmill show` writes a contact sheet of the first images."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image

import recordmill as rm
from tests.cli.conftest import Result
from tests.images import encode_png

Run = Callable[..., Result]


@pytest.fixture
def images(tmp_path: Path) -> Path:
    """Return a shard of 30 images; ``labels.txt`` beside it has their class names."""
    path = tmp_path / "a.tfrecord"
    with rm.ShardWriter(path) as writer:
        for number in range(30):
            writer.write({"image": encode_png(number), "label": number})
    (tmp_path / "labels.txt").write_text("".join(f"class {number}\n" for number in range(30)))
    return path


def test_show_writes_an_image(run: Run, images: Path, tmp_path: Path) -> None:
    out = tmp_path / "sheet.png"
    result = run("show", images, "--out", out)
    assert result.code == 0 and result.out == f"{out}: 24 images\n"
    with Image.open(out) as image:
        assert image.format == "PNG" and image.width > 900


def test_show_json_lists_captions(run: Run, images: Path, tmp_path: Path) -> None:
    plain = run("show", "--json", "-n", 2, images, "--out", tmp_path / "sheet.jpg").json
    assert plain == {
        "path": str(tmp_path / "sheet.jpg"),
        "num_images": 2,
        "captions": ["class 0", "class 1"],
        "errors": [],
    }


def test_show_shuffle_draws_other_records(run: Run, images: Path, tmp_path: Path) -> None:
    def captions(*options: object) -> list[str]:
        return run("show", "--json", images, "--out", tmp_path / "sheet.png", *options).json["captions"]

    assert captions("--shuffle") == captions("--shuffle", 0)
    assert len({tuple(captions(*options)) for options in ((), ("--shuffle",), ("--shuffle", 1))}) == 3


def test_show_of_damaged_images_exits_with_1(run: Run, tmp_path: Path) -> None:
    with rm.ShardWriter(tmp_path / "a.tfrecord") as writer:
        writer.write({"image": encode_png(0)})
        writer.write({"image": encode_png(0)[:60]})
    result = run("show", tmp_path / "a.tfrecord", "--out", tmp_path / "sheet.png")
    assert result.code == 1 and "2 images\nnot drawn: " in result.out
    assert (tmp_path / "sheet.png").exists()


def test_show_without_images_exits_with_2(run: Run, tmp_path: Path) -> None:
    with rm.ShardWriter(tmp_path / "a.tfrecord") as writer:
        writer.write({"text": b"hello"})
    result = run("show", tmp_path / "a.tfrecord", "--out", tmp_path / "sheet.png")
    assert result.code == 2 and "the samples have no images" in result.err
    assert not (tmp_path / "sheet.png").exists()


def test_show_with_unknown_suffix_exits_with_2(run: Run, images: Path, tmp_path: Path) -> None:
    result = run("show", images, "--out", tmp_path / "sheet.xyz")
    assert result.code == 2 and ".xyz" in result.err


@pytest.mark.parametrize("arguments", [[], ["--out"], ["--out", "x.png", "-n", "0"]])
def test_show_with_wrong_arguments_exits_with_2(arguments: list[str], run: Run, images: Path) -> None:
    assert run("show", images, *arguments).code == 2
