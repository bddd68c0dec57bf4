"""Shards and image folders for the tests of the command line, and a fixture that runs it."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import recordmill as rm
from recordmill.cli.main import main


@dataclass(frozen=True)
class Result:
    """Exit code and output of a command."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., Result]:
    """Return a function that runs the command in this process."""

    def command(*arguments: object) -> Result:
        capsys.readouterr()
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as error:
            code = int(error.code or 0)
        return Result(code, *capsys.readouterr())

    return command


def encode_image(number: int, encoding: str = "JPEG", size: tuple[int, int] = (32, 20)) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", size, (number * 7 % 256, 90, 200)).save(out, encoding)
    return out.getvalue()


def create_example(number: int) -> dict[str, Any]:
    return {
        "image": encode_image(number),
        "label": number,
        "name": f"n{number}",
        "scores": np.arange(number % 3 + 1, dtype=np.float32),
        "tags": [b"first", b"second"],
        "noise": bytes([0, 255, number, 128]),
    }


@pytest.fixture
def shards(tmp_path: Path) -> Path:
    """Ten examples in two TFRecord shards."""
    folder = tmp_path / "shards"
    with rm.ShardWriter(folder / "train", format="tfrecord", shards=2) as writer:
        for number in range(10):
            writer.write(create_example(number))
    return folder


@pytest.fixture
def damaged(shards: Path) -> Path:
    """The first shard of `shards` with a flipped bit in its third payload."""
    path = shards / "train-00000-of-00002.tfrecord"
    with rm.ShardReader(path) as reader:
        offset = int(reader.index.offsets[2] + reader.index.lengths[2]) - 20
    data = bytearray(path.read_bytes())
    data[offset] ^= 4
    path.write_bytes(data)
    return path


@pytest.fixture
def truncated(shards: Path) -> Path:
    """A shard that ends inside its fourth record."""
    path = shards / "train-00001-of-00002.tfrecord"
    with rm.ShardReader(path) as reader:
        end = int(reader.index.offsets[3]) + 40
    target = shards.parent / "truncated.tfrecord"
    target.write_bytes(path.read_bytes()[:end])
    return target


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    """Six images in two class folders."""
    root = tmp_path / "photos"
    for number in range(6):
        folder = root / ("cat" if number % 2 else "ant")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{number}.jpg").write_bytes(encode_image(number))
    return root


@pytest.fixture
def flat(tmp_path: Path) -> Path:
    """Six images ``0.png`` to ``5.png`` in one folder."""
    root = tmp_path / "flat"
    root.mkdir()
    for number in range(6):
        (root / f"{number}.png").write_bytes(encode_image(number, "PNG"))
    return root


@pytest.fixture
def voc(tmp_path: Path) -> Path:
    """Three pairs in the layout of Pascal VOC, whose list has another order than the files."""
    root = tmp_path / "VOC"
    for name in ("JPEGImages", "SegmentationClass", "ImageSets/Segmentation"):
        (root / name).mkdir(parents=True)
    for number in range(3):
        (root / "JPEGImages" / f"{number}.jpg").write_bytes(encode_image(number))
        mask = Image.fromarray(np.full((20, 32), number, np.uint8))
        mask.putpalette(bytes(range(256)) * 3)
        mask.save(root / "SegmentationClass" / f"{number}.png")
    (root / "ImageSets" / "Segmentation" / "train.txt").write_text("2\n0\n1\n")
    return root
