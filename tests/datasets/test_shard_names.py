"""Shards that an earlier run left under other names: writers refuse to run beside them, or remove exactly those."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

import recordmill as rm
from recordmill.datasets.shard_names import build_shard_paths, check_leftover_shards, find_leftover_shards
from recordmill.formats.registry import get_format
from recordmill.testing.storage import MemoryStorage
from tests.shards.helpers import FORMATS

NAMES = {
    "tfrecord": "part-{:05d}-of-{:05d}.tfrecord",
    "ofrecord": "part-{}",
    "recordio": "part-{:05d}-of-{:05d}.rec",
}


def write(folder: Path, family: str, shards: int, **options: Any) -> None:
    with rm.ShardWriter(folder / "part", format=family, shards=shards, payload="raw", **options) as writer:
        for number in range(6):
            writer.write(b"record %d" % number)


def file_names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def write_shard_of_other_run(folder: Path, family: str, number: int, total: int) -> None:
    (folder / NAMES[family].format(number, total)).write_bytes(b"of another process")


@pytest.mark.parametrize("family", FORMATS)
@pytest.mark.parametrize("function", ["writer", "pack"])
def test_writer_keeps_shards_that_appear_while_it_runs(tmp_path: Path, family: str, function: str) -> None:
    images, out = tmp_path / "images", tmp_path / "out"
    images.mkdir()
    out.mkdir()
    (images / "a.png").write_bytes(b"not decoded")

    def appear(*_: object) -> None:
        write_shard_of_other_run(out, family, 1, 3)

    if function == "pack":
        source = rm.ImageFolder(images, labels=None)
        rm.pack(source, out / "part", format=family, progress=appear, check="none")
    else:
        with rm.ShardWriter(out / "part", format=family, payload="raw") as writer:
            writer.write(b"record")
            appear()
    assert (out / NAMES[family].format(1, 3)).read_bytes() == b"of another process"
    assert (out / NAMES[family].format(0, 1)).exists()


@pytest.mark.parametrize("family", FORMATS)
def test_overwriting_writer_removes_leftover_shards_and_their_indexes(tmp_path: Path, family: str) -> None:
    write(tmp_path, family, 2)
    expected = file_names(tmp_path)
    write(tmp_path, family, 4, overwrite=True)
    write(tmp_path, family, 2, overwrite=True)
    assert file_names(tmp_path) == expected


def test_overwriting_ofrecord_writer_keeps_numbers_after_a_gap(tmp_path: Path) -> None:
    write(tmp_path, "ofrecord", 3)
    (tmp_path / "part-2017").write_bytes(b"another dataset")
    with pytest.raises(rm.OutputExistsError, match="a different number") as caught:
        write(tmp_path, "ofrecord", 2, overwrite=False)
    assert (caught.value.shard or "").endswith(("part-0", "part-2"))
    write(tmp_path, "ofrecord", 1, overwrite=True)
    assert [name for name in file_names(tmp_path) if not name.startswith(".")] == ["part-0", "part-2017"]


def test_ofrecord_writer_ignores_numbers_after_a_gap(tmp_path: Path) -> None:
    (tmp_path / "part-2017").write_bytes(b"another dataset")
    write(tmp_path, "ofrecord", 2)
    assert (tmp_path / "part-2017").read_bytes() == b"another dataset"


def test_ofrecord_writer_refuses_leftover_following_numbers(tmp_path: Path) -> None:
    for number in (2, 3):
        (tmp_path / f"part-{number}").write_bytes(b"left over")
    with pytest.raises(rm.OutputExistsError, match="a different number") as caught:
        write(tmp_path, "ofrecord", 2)
    assert (caught.value.shard or "").endswith("part-2")
    assert file_names(tmp_path) == ["part-2", "part-3"]


@pytest.mark.parametrize("family", FORMATS)
def test_rolling_writer_refuses_leftover_shards_before_writing(tmp_path: Path, family: str) -> None:
    write(tmp_path, family, 2)
    with pytest.raises(rm.OutputExistsError, match="a different number"):
        rm.ShardWriter(tmp_path / "part", format=family, max_shard_bytes=100)


@given(st.sampled_from(FORMATS), st.sampled_from(["out", "/out", "a/b", "out[1]", "2017"]), st.integers(1, 3))
def test_leftover_shards_are_found_in_any_folder(family: str, folder: str, total: int) -> None:
    storage, format_ = MemoryStorage(), get_format(family)
    prefix = f"{folder}/part"
    old = build_shard_paths(prefix, format_, total + 1)
    for path in (*old, f"{prefix}-other", f"{folder}/unrelated"):
        storage.write(path, b"")
    new = build_shard_paths(prefix, format_, total)
    with pytest.raises(rm.OutputExistsError):
        check_leftover_shards(storage, prefix, format_, "", new)
    assert set(find_leftover_shards(storage, prefix, format_, "", new)) == set(old) - set(new)


@pytest.mark.parametrize("family", FORMATS)
def test_writer_refuses_leftover_shards_in_working_directory(
    tmp_path: Path, family: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(Path(), family, 2)
    with pytest.raises(rm.OutputExistsError, match="a different number"):
        write(Path(), family, 1)
    write(Path(), family, 1, overwrite=True)
    assert [name for name in file_names(tmp_path) if not name.startswith(".") and not name.endswith(".idx")] == [
        NAMES[family].format(0, 1)
    ]
