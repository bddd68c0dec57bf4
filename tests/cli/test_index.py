"""`recordmill index`."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import recordmill as rm
from tests.cli.conftest import Done

Run = Callable[..., Done]


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """A RecordIO shard without any index."""
    with rm.ShardWriter(tmp_path / "made.rec", format="recordio") as writer:
        for number in range(5):
            writer.write({"image": bytes(number + 1), "label": number})
    target = tmp_path / "fresh" / "copy.rec"
    target.parent.mkdir()
    target.write_bytes((tmp_path / "made.rec").read_bytes())
    return target


def test_index_when_built_then_the_files_written_are_printed(run: Run, copied: Path) -> None:
    done = run("index", copied)
    assert done.code == 0 and done.err == ""
    assert done.out.splitlines() == [str(copied.parent / ".copy.rec.rmx")]
    assert (copied.parent / ".copy.rec.rmx").exists() and not copied.with_suffix(".idx").exists()


@pytest.mark.parametrize("option", ["--foreign", "--idx"])
def test_index_when_foreign_then_mxnets_file_is_written_too(run: Run, copied: Path, option: str) -> None:
    done = run("index", option, "--json", copied)
    assert done.json == [str(copied.parent / ".copy.rec.rmx"), str(copied.with_suffix(".idx"))]
    with rm.ShardReader(copied) as reader:
        expected = [f"{key}\t{offset}" for key, offset in enumerate(reader.index.offsets.tolist())]
    assert copied.with_suffix(".idx").read_text().splitlines() == expected


def test_index_when_checksums_are_kept_then_a_turned_bit_is_found(run: Run, copied: Path) -> None:
    data = bytearray(copied.read_bytes())
    place = 24  # in id2 of the first record, where nothing but a checksum can tell
    for options, code in ((["--no-checksums"], 0), ([], 1)):
        copied.write_bytes(data)
        assert run("index", *options, copied).code == 0
        copied.write_bytes(data[:place] + b"\1" + data[place + 1 :])
        assert run("verify", copied).code == code
        (copied.parent / ".copy.rec.rmx").unlink()


def test_index_when_the_shard_is_damaged_then_error_and_exit_code_1(run: Run, cut: Path) -> None:
    done = run("index", cut)
    assert done.code == 1 and done.out == "" and done.err.startswith("error: ")
    assert "recordmill verify" in done.err


def test_index_when_entry_points_are_asked_for_then_their_file_is_printed(run: Run, tmp_path: Path) -> None:
    out = io.BytesIO()
    noise = np.random.default_rng(1).integers(0, 256, (160, 160, 3), np.uint8)
    Image.fromarray(noise).save(out, "JPEG", quality=90)
    with rm.ShardWriter(tmp_path / "train.tfrecord") as writer:
        writer.write({"image": out.getvalue()})
    done = run("index", "--entry-points", *writer.paths)
    kept = [tmp_path / ".train.tfrecord.rmx", tmp_path / ".train.tfrecord.rme"]
    assert done.code == 0 and done.out.splitlines() == [str(path) for path in kept]
    assert all(path.exists() for path in kept)
