"""`recordmill index` writes index files and prints their paths."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import recordmill as rm
from tests.cli.conftest import Result

Run = Callable[..., Result]


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """A RecordIO shard without any index."""
    with rm.ShardWriter(tmp_path / "source.rec", format="recordio") as writer:
        for number in range(5):
            writer.write({"image": bytes(number + 1), "label": number})
    target = tmp_path / "fresh" / "copy.rec"
    target.parent.mkdir()
    target.write_bytes((tmp_path / "source.rec").read_bytes())
    return target


def test_index_prints_written_files(run: Run, copied: Path) -> None:
    result = run("index", copied)
    assert result.code == 0 and result.err == ""
    assert result.out.splitlines() == [str(copied.parent / ".copy.rec.rmx")]
    assert (copied.parent / ".copy.rec.rmx").exists() and not copied.with_suffix(".idx").exists()


@pytest.mark.parametrize("option", ["--foreign", "--idx"])
def test_index_foreign_also_writes_idx_file(run: Run, copied: Path, option: str) -> None:
    result = run("index", option, "--json", copied)
    assert result.json == [str(copied.parent / ".copy.rec.rmx"), str(copied.with_suffix(".idx"))]
    with rm.ShardReader(copied) as reader:
        expected = [f"{key}\t{offset}" for key, offset in enumerate(reader.index.offsets.tolist())]
    assert copied.with_suffix(".idx").read_text().splitlines() == expected


def test_index_checksums_detect_flipped_bit(run: Run, copied: Path) -> None:
    data = bytearray(copied.read_bytes())
    offset = 24  # in id2 of the first record, where only a checksum detects a change
    for options, code in ((["--no-checksums"], 0), ([], 1)):
        copied.write_bytes(data)
        assert run("index", *options, copied).code == 0
        copied.write_bytes(data[:offset] + b"\1" + data[offset + 1 :])
        assert run("verify", copied).code == code
        (copied.parent / ".copy.rec.rmx").unlink()


def test_index_of_damaged_shard_exits_with_1(run: Run, truncated: Path) -> None:
    result = run("index", truncated)
    assert result.code == 1 and result.out == "" and result.err.startswith("error: ")
    assert "recordmill verify" in result.err


def test_index_entry_points_prints_their_file(run: Run, tmp_path: Path) -> None:
    out = io.BytesIO()
    noise = np.random.default_rng(1).integers(0, 256, (160, 160, 3), np.uint8)
    Image.fromarray(noise).save(out, "JPEG", quality=90)
    with rm.ShardWriter(tmp_path / "train.tfrecord") as writer:
        writer.write({"image": out.getvalue()})
    result = run("index", "--entry-points", *writer.paths)
    expected = [tmp_path / ".train.tfrecord.rmx", tmp_path / ".train.tfrecord.rme"]
    assert result.code == 0 and result.out.splitlines() == [str(path) for path in expected]
    assert all(path.exists() for path in expected)
