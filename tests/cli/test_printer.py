"""Formatting and parsing of numbers and text on the command line."""

from __future__ import annotations

import argparse

import pytest

from recordmill.cli.errors import arguments_to_options
from recordmill.cli.options import parse_byte_count, parse_positive_integer
from recordmill.cli.printer import escape_unprintable, format_bytes, format_count, format_table

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
def test_format_bytes_chooses_unit(num_bytes: int, text: str) -> None:
    assert format_bytes(num_bytes) == text


@pytest.mark.parametrize(
    "text, num_bytes",
    [("4096", 4096), ("100MB", 10**8), ("100m", 10**8), ("64MiB", 64 << 20), ("1.5 GB", 1_500_000_000), ("2kib", 2048)],
)
def test_parse_bytes_applies_unit(text: str, num_bytes: int) -> None:
    assert parse_byte_count(text) == num_bytes


@pytest.mark.parametrize("text", ["", "0", "-1", "12 parsecs", "1ib", "MB", "1e3", "0.1"])
def test_parse_bytes_refuses_invalid_text(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError):
        parse_byte_count(text)


@pytest.mark.parametrize("text", ["0", "-3", "x", "1.5", ""])
def test_parse_positive_refuses_invalid_text(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="positive integer"):
        parse_positive_integer(text)


def test_format_table_right_aligns_numbers() -> None:
    assert format_table(("name", "n"), [("a", "5"), ("long", "1,000")]) == ["name      n", "a         5", "long  1,000"]


def test_format_table_without_rows_returns_header() -> None:
    assert format_table(("a", "b"), []) == ["a  b"]


def test_escape_unprintable_escapes_control_characters() -> None:
    assert escape_unprintable("ü\x1b[31m\n\udcff") == r"ü\x1b[31m\n\udcff"


def test_format_count_uses_singular_for_one() -> None:
    assert (format_count(1, "record"), format_count(0, "record"), format_count(1234, "shard")) == (
        "1 record",
        "0 records",
        "1,234 shards",
    )


@pytest.mark.parametrize(
    "hint, expected",
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
def test_arguments_to_options_replaces_arguments_in_hints(hint: str, expected: str) -> None:
    assert arguments_to_options(hint, OPTIONS) == expected
