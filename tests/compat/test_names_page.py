"""The generated page of supported names."""

from __future__ import annotations

from tools import list_names


def test_page_of_supported_names_is_up_to_date() -> None:
    assert list_names.PAGE.read_text() == list_names.build_page(), "run python -m tools.list_names"
