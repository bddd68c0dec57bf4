"""The local file system: natural order, temporary names, atomic renames, and errors that state the file."""

from __future__ import annotations

import errno
import os
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from recordmill.errors import OutputExistsError, WriteError
from recordmill.storage.base import write_file_atomically
from recordmill.storage.local import LOCAL, convert_write_errors, natural_sort_key


@given(st.lists(st.integers(0, 10**6), unique=True), st.integers(0, 6))
def test_natural_key_sorts_by_number_with_any_padding(numbers: list[int], width: int) -> None:
    names = [f"part-{number:0{width}d}" for number in numbers]
    assert sorted(names, key=natural_sort_key) == [f"part-{number:0{width}d}" for number in sorted(numbers)]


@given(st.lists(st.text("a1/-2b.0", max_size=8)))
def test_natural_keys_of_any_names_are_comparable(names: list[str]) -> None:
    in_order = [natural_sort_key(name) for name in sorted(names, key=natural_sort_key)]
    assert all(first <= second for first, second in pairwise(in_order))


def test_output_file_has_final_name_only_after_commit(tmp_path: Path) -> None:
    path = tmp_path / "new" / "file"
    file = LOCAL.create_output(str(path), overwrite=False)
    file.write(b"one ")
    file.write(memoryview(b"two"))
    assert not path.exists()
    file.finish()
    file.finish()
    assert not path.exists()
    file.commit()
    assert path.read_bytes() == b"one two"
    assert os.listdir(path.parent) == ["file"]


def test_discarded_output_file_leaves_no_file(tmp_path: Path) -> None:
    file = LOCAL.create_output(str(tmp_path / "file"), overwrite=False)
    file.write(b"x")
    file.discard()
    file.discard()
    assert os.listdir(tmp_path) == []
    with pytest.raises(ValueError, match="closed"):
        file.write(b"y")


def test_create_and_commit_refuse_existing_file_without_overwrite(tmp_path: Path) -> None:
    path = tmp_path / "file"
    early = LOCAL.create_output(str(path), overwrite=False)
    path.write_bytes(b"other")
    with pytest.raises(OutputExistsError):
        LOCAL.create_output(str(path), overwrite=False)
    early.finish()
    with pytest.raises(OutputExistsError) as caught:
        early.commit()
    assert caught.value.shard == str(path)
    early.discard()
    assert path.read_bytes() == b"other"
    replacing = LOCAL.create_output(str(path), overwrite=True)
    replacing.write(b"new")
    replacing.finish()
    replacing.commit()
    assert path.read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["file"]


def test_create_raises_write_error_if_parent_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"")
    with pytest.raises(WriteError) as caught:
        LOCAL.create_output(str(tmp_path / "a" / "b"), overwrite=False)
    assert "cannot create" in str(caught.value)
    assert caught.value.shard == str(tmp_path / "a" / "b")


def test_expand_lists_folders_patterns_and_paths_in_natural_order(tmp_path: Path) -> None:
    for name in ("p10", "p9", ".hidden", "sub/p1"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"")
    assert [Path(name).name for name in LOCAL.expand(str(tmp_path))] == ["p9", "p10"]
    assert [Path(name).name for name in LOCAL.expand(f"{tmp_path}/p*")] == ["p9", "p10"]
    assert [Path(name).name for name in LOCAL.expand(f"{tmp_path}/**/p*")] == ["p9", "p10", "p1"]
    assert LOCAL.expand(f"{tmp_path}/nothing*") == []
    odd = tmp_path / "p[1]*"
    odd.write_bytes(b"")
    assert LOCAL.expand(str(odd)) == [str(odd)]


def test_exists_and_remove_treat_missing_file_as_no_error(tmp_path: Path) -> None:
    path = str(tmp_path / "file")
    assert not LOCAL.exists(path)
    LOCAL.remove(path)
    Path(path).write_bytes(b"x")
    assert LOCAL.exists(path) and LOCAL.stat(path).num_bytes == 1
    LOCAL.remove(path)
    assert not LOCAL.exists(path)


def test_convert_write_errors_hints_at_free_space_if_device_is_full() -> None:
    full = Path("/dev/full").open("wb", buffering=0)  # noqa: SIM115
    with full, pytest.raises(WriteError) as caught, convert_write_errors("out/a.tfrecord", "cannot write"):
        full.write(b"x")
    assert "No space left on device" in str(caught.value)
    assert caught.value.shard == "out/a.tfrecord" and "space" in (caught.value.hint or "")


def test_commit_without_hard_links_refuses_existing_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def link(old: str, new: str) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted", old)

    monkeypatch.setattr(os, "link", link)
    first, second = (LOCAL.create_output(str(tmp_path / "file"), overwrite=False) for _ in range(2))
    for file, content in ((first, b"first"), (second, b"second")):
        file.write(content)
        file.finish()
    first.commit()
    with pytest.raises(OutputExistsError):
        second.commit()
    second.discard()
    assert (tmp_path / "file").read_bytes() == b"first" and os.listdir(tmp_path) == ["file"]


def test_write_atomically_keeps_old_content_on_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    write_file_atomically(LOCAL, str(path), b"old")

    def fail(old: str, new: str) -> None:
        raise OSError(errno.EIO, "Input/output error", old)

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(WriteError, match="cannot rename"):
        write_file_atomically(LOCAL, str(path), b"new")
    assert path.read_bytes() == b"old" and os.listdir(tmp_path) == ["file"]
