"""Local files: natural order, temporary names, fsync and rename, errors that name the file."""

from __future__ import annotations

import os
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from recordmill.errors import OutputExistsError, WriteError
from recordmill.storage.local import LOCAL, natural_key


@given(st.lists(st.integers(0, 10**6), unique=True), st.integers(0, 6))
def test_natural_key_when_numbers_are_padded_or_not_then_sorts_by_number(numbers: list[int], width: int) -> None:
    names = [f"part-{number:0{width}d}" for number in numbers]
    assert sorted(names, key=natural_key) == [f"part-{number:0{width}d}" for number in sorted(numbers)]


@given(st.lists(st.text("a1/-2b.0", max_size=8)))
def test_natural_key_when_names_are_anything_then_can_be_compared(names: list[str]) -> None:
    in_order = [natural_key(name) for name in sorted(names, key=natural_key)]
    assert all(first <= second for first, second in pairwise(in_order))


def test_file_when_written_then_is_seen_only_after_commit(tmp_path: Path) -> None:
    path = tmp_path / "new" / "file"
    file = LOCAL.create(str(path), overwrite=False)
    file.write(b"one ")
    file.write(memoryview(b"two"))
    assert not path.exists()
    file.finish()
    file.finish()
    assert not path.exists()
    file.commit()
    assert path.read_bytes() == b"one two"
    assert os.listdir(path.parent) == ["file"]


def test_file_when_discarded_then_leaves_nothing(tmp_path: Path) -> None:
    file = LOCAL.create(str(tmp_path / "file"), overwrite=False)
    file.write(b"x")
    file.discard()
    file.discard()
    assert os.listdir(tmp_path) == []
    with pytest.raises(ValueError, match="closed"):
        file.write(b"y")


def test_file_when_the_name_is_taken_then_is_refused_at_both_ends(tmp_path: Path) -> None:
    path = tmp_path / "file"
    early = LOCAL.create(str(path), overwrite=False)
    path.write_bytes(b"other")
    with pytest.raises(OutputExistsError):
        LOCAL.create(str(path), overwrite=False)
    early.finish()
    with pytest.raises(OutputExistsError) as caught:
        early.commit()
    assert caught.value.shard == str(path)
    early.discard()
    assert path.read_bytes() == b"other"
    replacing = LOCAL.create(str(path), overwrite=True)
    replacing.write(b"new")
    replacing.finish()
    replacing.commit()
    assert path.read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["file"]


def test_file_when_its_folder_is_a_file_then_is_a_write_error(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"")
    with pytest.raises(WriteError) as caught:
        LOCAL.create(str(tmp_path / "a" / "b"), overwrite=False)
    assert "cannot create" in str(caught.value)
    assert caught.value.shard == str(tmp_path / "a" / "b")


def test_expand_when_given_a_folder_pattern_or_path_then_lists_in_natural_order(tmp_path: Path) -> None:
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
