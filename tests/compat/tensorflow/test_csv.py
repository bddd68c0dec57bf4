"""CSV fields with quotes and line ends are read as in TensorFlow."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

import recordmill.compat.tensorflow as tf

DATA = b'n,t\r\n1,"a\nb"\r\n2,"x, ""y""\r\nz"\n3,plain\r\n4,"one"\n5,"two\n\nlines"\n6,'
TEXTS = [b"a\nb", b'x, "y"\r\nz', b"plain", b"one", b"two\n\nlines", b"none"]


def read(path: Path, **options: Any) -> list[Any]:
    found, iterator = [], iter(tf.data.experimental.CsvDataset(str(path), [tf.int32, "none"], **options))
    while True:
        try:
            found.append([field.numpy() for field in next(iterator)])
        except StopIteration:
            return found
        except tf.errors.InvalidArgumentError as error:
            found.append(error.record)


def test_quoted_csv_fields_may_contain_line_ends(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(DATA)
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(DATA))
    expected = [[number, text] for number, text in enumerate(TEXTS, 1)]
    assert read(tmp_path / "a.csv", header=True) == expected
    assert read(tmp_path / "a.csv.gz", compression_type="GZIP", header=True) == expected
    batches = tf.data.experimental.make_csv_dataset(str(tmp_path / "a.csv"), 4, num_epochs=1, shuffle=False)
    assert [text for batch in batches for text in batch["t"].numpy().tolist()] == [*TEXTS[:5], b""]


@pytest.mark.parametrize(
    "data, options, expected",
    [
        (b'1,a"b\n2,c\n', {}, [0, [2, b"c"]]),  # A quote inside a field does not start a quoted field.
        (b'1,"ab\n2,c\n', {}, [0]),
        (b'1,"a\n"\n2,"c"\n', {}, [[1, b"a\n"], [2, b"c"]]),
        (b'1;"a;\nb"\n2;c', {"field_delim": ";"}, [[1, b"a;\nb"], [2, b"c"]]),
        (b'1,"a\n2,b"\n', {"use_quote_delim": False}, [[1, b'"a'], [2, b'b"']]),
        (b'"1","a"\n"2","b\r\nc"\r\n', {}, [[1, b"a"], [2, b"b\r\nc"]]),
        (b'1,"""a""\n"\n2,""""\n', {}, [[1, b'"a"\n'], [2, b'"']]),
        (b'1,"a\nb",9\n2,"c"\n', {}, [0, [2, b"c"]]),
    ],
)
def test_csv_records_end_where_tensorflow_ends_them(
    tmp_path: Path, data: bytes, options: dict[str, Any], expected: list[Any]
) -> None:
    (tmp_path / "a.csv").write_bytes(data)
    assert read(tmp_path / "a.csv", **options) == expected
