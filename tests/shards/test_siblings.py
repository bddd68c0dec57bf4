"""Shards of an earlier run beside new ones: refused or replaced, and never more than those."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import recordmill as rm
from tests.shards.made import FAMILIES

NAMES = {
    "tfrecord": "part-{:05d}-of-{:05d}.tfrecord",
    "ofrecord": "part-{}",
    "recordio": "part-{:05d}-of-{:05d}.rec",
}


def write(folder: Path, family: str, shards: int, **options: Any) -> None:
    with rm.ShardWriter(folder / "part", format=family, shards=shards, payload="raw", **options) as writer:
        for number in range(6):
            writer.write(b"record %d" % number)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def appeared(folder: Path, family: str, number: int, total: int) -> Path:
    path = folder / NAMES[family].format(number, total)
    path.write_bytes(b"of another process")
    return path


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("how", ["writer", "pack"])
def test_siblings_when_they_appear_while_writing_then_are_left_alone(tmp_path: Path, family: str, how: str) -> None:
    images, out = tmp_path / "images", tmp_path / "out"
    images.mkdir()
    out.mkdir()
    (images / "a.png").write_bytes(b"not looked at")

    def appear(*_: object) -> None:
        appeared(out, family, 1, 3)

    if how == "pack":
        source = rm.ImageFolder(images, labels=None)
        rm.pack(source, out / "part", format=family, progress=appear, check="none")
    else:
        with rm.ShardWriter(out / "part", format=family, payload="raw") as writer:
            writer.write(b"record")
            appear()
    assert (out / NAMES[family].format(1, 3)).read_bytes() == b"of another process"
    assert (out / NAMES[family].format(0, 1)).exists()


@pytest.mark.parametrize("family", FAMILIES)
def test_siblings_when_overwritten_by_fewer_then_are_gone_with_their_indexes(tmp_path: Path, family: str) -> None:
    write(tmp_path, family, 2)
    fresh = names(tmp_path)
    write(tmp_path, family, 4, overwrite=True)
    write(tmp_path, family, 2, overwrite=True)
    assert names(tmp_path) == fresh


def test_numbers_behind_a_gap_when_ofrecord_is_overwritten_then_are_somebody_elses(tmp_path: Path) -> None:
    write(tmp_path, "ofrecord", 3)
    (tmp_path / "part-2017").write_bytes(b"another data set")
    with pytest.raises(rm.OutputExistsError, match="another number") as caught:
        write(tmp_path, "ofrecord", 2, overwrite=False)
    assert (caught.value.shard or "").endswith(("part-0", "part-2"))
    write(tmp_path, "ofrecord", 1, overwrite=True)
    assert [name for name in names(tmp_path) if not name.startswith(".")] == ["part-0", "part-2017"]


def test_numbers_behind_a_gap_when_ofrecord_is_new_then_do_not_stand_in_its_way(tmp_path: Path) -> None:
    (tmp_path / "part-2017").write_bytes(b"another data set")
    write(tmp_path, "ofrecord", 2)
    assert (tmp_path / "part-2017").read_bytes() == b"another data set"


def test_further_numbers_when_ofrecord_is_written_anew_then_are_refused(tmp_path: Path) -> None:
    for number in (2, 3):
        (tmp_path / f"part-{number}").write_bytes(b"left over")
    with pytest.raises(rm.OutputExistsError, match="another number") as caught:
        write(tmp_path, "ofrecord", 2)
    assert (caught.value.shard or "").endswith("part-2")
    assert names(tmp_path) == ["part-2", "part-3"]


@pytest.mark.parametrize("family", FAMILIES)
def test_shards_by_size_when_any_number_is_there_then_are_refused_before_the_work(tmp_path: Path, family: str) -> None:
    write(tmp_path, family, 2)
    with pytest.raises(rm.OutputExistsError, match="another number"):
        rm.ShardWriter(tmp_path / "part", format=family, max_shard_bytes=100)
