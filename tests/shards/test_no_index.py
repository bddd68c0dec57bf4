"""Writing shards without saving their index."""

from __future__ import annotations

from pathlib import Path

import pytest

import recordmill as rm
from tests.shards.helpers import FORMATS


@pytest.mark.parametrize("format_name", FORMATS)
def test_writer_without_index_writes_only_files_of_the_format_and_a_manifest(tmp_path: Path, format_name: str) -> None:
    path = tmp_path / "out"
    for index in ("auto", "never"):  # The second run replaces the shards of the first one, whose index would not match.
        with rm.ShardWriter(path, format=format_name, shards=2, overwrite=True, index=index) as writer:
            for number in range(1, 8):
                writer.write({"image": b"x" * number, "label": float(number)})
    own = [Path(one).with_suffix(".idx") for one in writer.paths] if format_name == "recordio" else []
    assert set(tmp_path.iterdir()) == {*map(Path, writer.paths), *own, tmp_path / ".out.manifest.json"}
    assert [one["image"] for one in rm.open(writer.paths).fetch(range(7))] == [b"x" * n for n in (1, 3, 5, 7, 2, 4, 6)]


def test_writer_rejects_unknown_index_mode(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="'auto' or 'never', got 'no'"):
        rm.ShardWriter(tmp_path / "out", index="no")
    with pytest.raises(ValueError, match="entry_points=True"):
        rm.pack([{"a": 1}], tmp_path / "out", entry_points=True, index="never")
    assert list(tmp_path.iterdir()) == []
