"""Words and numbers as the command line shows and reads them."""

from __future__ import annotations

import argparse

import pytest

from recordmill.cli.errors import as_options
from recordmill.cli.options import byte_size, positive
from recordmill.cli.printer import byte_count, counted, table, visible

OPTIONS = {"--overwrite", "--format", "--encode", "--center-crop", "--no-labels", "--on-error"}


@pytest.mark.parametrize(
    "num_bytes, text",
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.0 kB"),
        (999_949, "999.9 kB"),
        (999_951, "1.0 MB"),
        (5 * 10**18, "5000.0 PB"),
    ],
)
def test_byte_count_when_shown_then_unit_fits(num_bytes: int, text: str) -> None:
    assert byte_count(num_bytes) == text


@pytest.mark.parametrize(
    "text, num_bytes",
    [("4096", 4096), ("100MB", 10**8), ("100m", 10**8), ("64MiB", 64 << 20), ("1.5 GB", 1_500_000_000), ("2kib", 2048)],
)
def test_byte_size_when_read_then_units_count(text: str, num_bytes: int) -> None:
    assert byte_size(text) == num_bytes


@pytest.mark.parametrize("text", ["", "0", "-1", "12 parsecs", "1ib", "MB", "1e3", "0.1"])
def test_byte_size_when_nonsense_then_refused(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError):
        byte_size(text)


@pytest.mark.parametrize("text", ["0", "-3", "x", "1.5", ""])
def test_positive_when_nonsense_then_refused(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="whole number"):
        positive(text)


def test_table_when_a_column_holds_numbers_then_it_is_aligned_to_the_right() -> None:
    assert table(("name", "n"), [("a", "5"), ("long", "1,000")]) == ["name      n", "a         5", "long  1,000"]


def test_table_when_empty_then_is_the_header() -> None:
    assert table(("a", "b"), []) == ["a  b"]


def test_visible_when_text_holds_commands_for_terminals_then_they_are_escaped() -> None:
    assert visible("ü\x1b[31m\n\udcff") == r"ü\x1b[31m\n\udcff"


def test_counted_when_one_then_is_singular() -> None:
    assert (counted(1, "record"), counted(0, "record"), counted(1234, "shard")) == (
        "1 record",
        "0 records",
        "1,234 shards",
    )


@pytest.mark.parametrize(
    "hint, words",
    [
        ("choose another name or use overwrite=True", "choose another name or use --overwrite"),
        ('omit format= to detect it, or use format="recordio"', "omit --format to detect it, or use --format recordio"),
        ("which then need encode=: jpeg", "which then need --encode: jpeg"),
        ("with format=...", "with --format"),
        ("center_crop=224 cuts", "--center-crop 224 cuts"),
        ("or say labels=None", "or say --no-labels"),
        ("say encode=... (labels=None for none)", "say --encode (--no-labels for none)"),
        ("say it with encode=[...]", "say it with --encode"),
        ('on_error="skip" leaves out', "--on-error skip leaves out"),
        ('payload="raw" is no option here', 'payload="raw" is no option here'),
        ("rm.open(..., schema=...)", "rm.open(..., schema=...)"),
        ("a == b", "a == b"),
    ],
)
def test_hint_when_it_names_arguments_then_they_become_options(hint: str, words: str) -> None:
    assert as_options(hint, OPTIONS) == words
