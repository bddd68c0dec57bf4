"""Lists of files that name one twice."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from recordmill.errors import ImageError
from recordmill.packing.sources import LabelFile, ListFile, Table


@pytest.mark.parametrize(
    "kind, text",
    [
        (ListFile, "0\t1\ta.jpg\n1\t2\tx/../a.jpg\n"),
        (Table, "a.jpg,1\na.jpg,2\n"),
        (LabelFile, '{"a.jpg": 1}\n{".//a.jpg": 2}\n'),
    ],
)
def test_any_list_when_a_name_is_there_twice_then_is_refused_unless_allowed(
    tmp_path: Path, kind: Any, text: str
) -> None:
    path = tmp_path / "a.txt"
    path.write_text(text)
    options = {"header": False} if kind is Table else {}
    with pytest.raises(ImageError, match=r"line 2 .*second time"):
        kind(path, **options).rows()
    assert len(kind(path, allow_duplicates=True, **options)) == 2
