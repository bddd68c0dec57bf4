"""Arrow tables, record batches and data frames, read with pandas, Polars, DuckDB and Hugging Face datasets."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordmill as rm
from tests.pipeline.sources import numbers

deep = pytest.mark.deep
COUNT = 40


def make_example(number: int) -> dict[str, Any]:
    example = {
        "id": number,
        "box": np.array([number, 1, 2, 3], np.float32),
        "tokens": np.arange(number % 4),
        "name": b"n\0%d" % number,
        "pixels": np.full((2, 3), number, np.uint8).tobytes(),
    }
    return example | ({"tags": [b"a", b"b" * number], "rare": [0.5]} if number % 3 == 0 else {})


SCHEMA = {
    "id": rm.Feature("int64"),
    "box": rm.Feature("float32", (4,)),
    "tokens": rm.Feature("int64", (None,)),
    "name": rm.Feature("bytes"),
    "pixels": rm.Feature("bytes"),
    "tags": rm.Feature("bytes", (None,), optional=True),
    "rare": rm.Feature("float32", (None,), optional=True),
}


@pytest.fixture
def dataset(tmp_path: Path) -> rm.Dataset:
    with rm.ShardWriter(tmp_path / "part", shards=2) as writer:
        for number in range(COUNT):
            writer.write(make_example(number))
    return rm.open(tmp_path, schema=SCHEMA)


def decoded(dataset: rm.Dataset) -> rm.Dataset:
    return dataset.decode(image=rm.Raw(dtype="uint8", shape=(2, 3), feature="pixels"))


def keep(sample: dict[str, Any]) -> dict[str, Any]:
    return sample


def expected_rows(numbers: list[int]) -> list[dict[str, Any]]:
    """Return the rows of the table as Python objects."""
    examples = [{"tags": None, "rare": None} | make_example(number) for number in numbers]
    return [
        {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in example.items()}
        for example in examples
    ]


def read_ids(dataset: rm.Dataset) -> list[int]:
    return [int(sample["id"]) for sample in dataset]


@deep
def test_to_arrow_has_types_and_values_of_features(dataset: rm.Dataset) -> None:
    table = dataset.to_arrow()
    table.validate(full=True)
    assert {field.name: str(field.type) for field in table.schema} == {
        "id": "int64",
        "box": "fixed_size_list<item: float>[4]",
        "tokens": "list<item: int64>",
        "name": "binary",
        "pixels": "binary",
        "tags": "list<item: binary>",
        "rare": "list<item: float>",
    }
    assert table.to_pylist() == expected_rows(read_ids(dataset))
    assert table["tags"].null_count == sum(number % 3 != 0 for number in range(COUNT))
    assert table["tokens"].null_count == 0


@deep
@pytest.mark.parametrize(
    "change",
    [
        lambda dataset: dataset.shuffle(seed=5),
        lambda dataset: dataset.skip(3).take(20),
        lambda dataset: dataset.filter(lambda sample: sample["id"] % 2 == 0),
        lambda dataset: dataset.map(lambda sample: sample),
        lambda dataset: dataset.map(keep, workers="processes"),
        lambda dataset: dataset.repeat(2).shard(rank=0, world_size=2),
        lambda dataset: rm.mix([dataset, dataset.shuffle(seed=2)], weights=[1, 1]),
    ],
    ids=["shuffle", "slice", "filter", "map", "processes", "shard", "mix"],
)
@pytest.mark.parametrize("batch_size", [1, 7, 1000])
def test_arrow_has_the_samples_of_the_dataset(dataset: rm.Dataset, change: Any, batch_size: int) -> None:
    import pyarrow as pa

    changed = change(dataset)
    table = changed.to_arrow()
    assert table.to_pylist() == expected_rows(read_ids(changed))
    batches = list(changed.iter_arrow(batch_size))
    assert pa.Table.from_batches(batches).equals(table)
    assert all(batch.num_rows <= batch_size for batch in batches)
    assert all(batch.validate(full=True) is None for batch in batches)


@deep
def test_to_arrow_does_not_copy_numbers(tmp_path: Path) -> None:
    import pyarrow as pa

    with rm.ShardWriter(tmp_path / "part") as writer:
        for number in range(200):
            writer.write({"x": np.full(1000, number, np.float32), "t": np.arange(900 + number % 2), "id": number})
    before = pa.total_allocated_bytes()
    table = rm.open(tmp_path).to_arrow()
    assert table.nbytes > 2_000_000
    assert pa.total_allocated_bytes() - before < 10_000
    assert table["x"][7].as_py() == [7.0] * 1000 and len(table["t"][1]) == 901


@deep
def test_arrow_of_decoded_arrays_are_lists_of_fixed_size(dataset: rm.Dataset) -> None:
    table = decoded(dataset).to_arrow()
    nested = "fixed_size_list<item: fixed_size_list<item: uint8>[3]>[2]"
    assert str(table.schema.field("image").type) == nested
    assert table["image"].to_pylist() == [[[number] * 3] * 2 for number in read_ids(dataset)]
    flat = table["image"].combine_chunks().flatten().flatten().to_numpy()
    assert np.array_equal(flat.reshape(-1, 2, 3), decoded(dataset).to_numpy()["image"])


@deep
def test_arrow_of_sequences_are_nested_lists(tmp_path: Path) -> None:
    rows = [[[1], [2, 3]], [], [[4, 5, 6], [], [7]]]
    words = [[[b"a", b""]], [], [[b"b"], [], [b"c", b"dd"]]]
    with rm.ShardWriter(tmp_path / "part", payload="sequence_example") as writer:
        for number, (row, word) in enumerate(zip(rows, words, strict=True)):
            writer.write({"id": number, "t": rm.FeatureList(row), "w": rm.FeatureList(word)})
    schema = {
        "id": rm.Feature("int64"),
        "t": rm.Feature("int64", (None, None), sequence=True),
        "w": rm.Feature("bytes", (None, None), sequence=True),
    }
    dataset = rm.open(tmp_path, schema=schema)
    for one in (dataset, dataset.map(lambda sample: sample), dataset.filter(lambda _: True)):
        table = one.to_arrow()
        assert str(table.schema.field("t").type) == "list<item: list<item: int64>>"
        assert table["t"].to_pylist() == rows
        assert table["w"].to_pylist() == words


@deep
@pytest.mark.parametrize(
    "value, text, expected",
    [
        (lambda n: np.full((n, 2, 3 - n), n, np.int16), "list<item: list<item: list<item: int16>>>", None),
        (lambda n: np.full(n, n, np.uint8), "list<item: uint8>", None),
        (lambda n: np.zeros((n, 0)), "list<item: list<item: double>>", None),
        (lambda n: None, "null", None),
        (float, "double", None),
        (lambda n: {"a": n}, "struct<a: int64>", None),
        (lambda n: "é" * n, "string", None),
        (lambda n: b"x" * n, "binary", None),
        (lambda n: [1] * n, "list<item: int64>", None),
        (lambda n: n > 1, "bool", None),
        (np.float16, "halffloat", None),
        (lambda n: np.array([n], ">i4"), "fixed_size_list<item: int32>[1]", None),
        (lambda n: np.datetime64("2020-01-01") + np.timedelta64(n, "D"), "date32[day]", None),
        (lambda n: rm.Ragged(np.arange(n), np.array([0, n])), "list<item: list<item: int64>>", [[[]], [[0]], [[0, 1]]]),
    ],
)
def test_to_arrow_converts_results_of_functions(value: Any, text: str, expected: Any) -> None:
    column = numbers(3).map(lambda sample: {"x": value(int(sample["id"]))}).to_arrow()["x"]
    column.validate(full=True)
    assert str(column.type) == text
    values = [value(number) for number in range(3)]
    plain = [one.tolist() if isinstance(one, np.ndarray | np.generic) else one for one in values]
    assert column.to_pylist() == (plain if expected is None else expected)


@deep
def test_to_arrow_names_feature_without_arrow_type() -> None:
    dataset = numbers(3).map(lambda sample: {"ok": 1, "wave": np.complex64(1)})
    with pytest.raises(rm.FeatureError, match="feature 'wave' cannot be converted") as caught:
        dataset.to_arrow()
    assert (caught.value.feature, caught.value.kind) == ("wave", "feature_mismatch")


@deep
def test_iter_arrow_keeps_schema_of_first_batch() -> None:
    import pyarrow as pa

    grows = numbers(8).map(lambda sample: {"x": np.arange(min(sample["id"], 2))})
    batches = list(grows.iter_arrow(2))
    assert {str(batch.schema.field("x").type) for batch in batches} == {"list<item: int64>"}
    assert pa.Table.from_batches(batches)["x"].to_pylist() == [[], [0], *[[0, 1]] * 6]
    late = numbers(8).map(lambda sample: {"x": np.arange(max(sample["id"], 2))}).iter_arrow(2)
    assert next(late).num_rows == 2
    with pytest.raises(rm.FeatureError, match="the type of feature 'x' differs") as caught:
        list(late)
    assert "larger batch_size" in str(caught.value.hint)


@deep
def test_iter_arrow_holds_few_batches_in_memory(tmp_path: Path) -> None:
    import pyarrow as pa

    endless = numbers(8).repeat().map(lambda sample: {"x": np.zeros(1 << 20, np.uint8)}).iter_arrow(4)
    program = f"""
import resource, recordmill as rm, numpy as np
dataset = rm.open({str(tmp_path / "part")!r})
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
rows = sum(batch.num_rows for batch in dataset.iter_arrow(8))
print(rows, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
    with rm.ShardWriter(tmp_path / "part") as writer:
        for number in range(400):
            writer.write({"x": np.full(1 << 18, number, np.float32)})
    rows, growth = map(int, subprocess.check_output([sys.executable, "-c", program], text=True).split())
    assert rows == 400
    assert growth < 200_000, "KiB; the samples have 400 MiB"
    assert isinstance(next(endless), pa.RecordBatch)
    endless.close()  # type: ignore[attr-defined]


@deep
def test_arrow_of_empty_datasets_have_no_rows(dataset: rm.Dataset) -> None:
    for empty in (dataset.take(0), dataset.skip(COUNT)):
        assert empty.to_arrow().schema == dataset.to_arrow().schema
        assert empty.to_arrow().num_rows == len(empty.to_pandas()) == 0
        assert list(empty.iter_arrow(4)) == []
    nothing = dataset.filter(lambda _: False)
    with pytest.warns(RuntimeWarning, match="filter"):
        assert nothing.to_arrow().schema == dataset.to_arrow().schema


@deep
def test_iter_arrow_raises_error_of_damaged_record() -> None:
    batches = numbers(20, 13).iter_arrow(5)
    assert [next(batches)["id"].to_pylist() for _ in range(2)] == [[*range(5)], [*range(5, 10)]]
    with pytest.raises(rm.PayloadError) as caught:
        next(batches)
    assert (caught.value.shard, caught.value.record) == ("numbers-1", 3)


@deep
def test_arrow_schema_contains_class_names(dataset: rm.Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rm.Dataset, "classes", ["cat", "großer Hund"], raising=False)
    assert json.loads(dataset.to_arrow().schema.metadata[b"classes"]) == ["cat", "großer Hund"]
    assert json.loads(next(dataset.iter_arrow(4)).schema.metadata[b"classes"]) == ["cat", "großer Hund"]


@pytest.mark.parametrize("method", ["to_arrow", "to_pandas", "iter_arrow"])
def test_arrow_methods_refuse_batched_datasets(dataset: rm.Dataset, method: str) -> None:
    arguments = (4,) if method == "iter_arrow" else ()
    with pytest.raises(ValueError, match=rf"{method}\(\) cannot be combined with batch.*iter_arrow\(batch_size\)"):
        getattr(dataset.batch(3), method)(*arguments)


@deep
@pytest.mark.parametrize("size", [0, -1, 2.5, True])
def test_iter_arrow_refuses_invalid_batch_size(dataset: rm.Dataset, size: Any) -> None:
    with pytest.raises(ValueError, match="batch_size must be a positive integer"):
        dataset.iter_arrow(size)


@pytest.mark.parametrize(
    "method, package", [("to_arrow", "pyarrow"), ("iter_arrow", "pyarrow"), ("to_pandas", "pandas")]
)
def test_arrow_methods_name_missing_extra(
    dataset: rm.Dataset, monkeypatch: pytest.MonkeyPatch, method: str, package: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(rm.MissingExtraError, match=package) as caught:
        getattr(dataset, method)(*((4,) if method == "iter_arrow" else ()))
    assert "recordmill[arrow]" in str(caught.value)


@deep
def test_to_pandas_has_columns_and_values(dataset: rm.Dataset) -> None:
    import pandas as pd

    frame = decoded(dataset).to_pandas()
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.columns) == ["id", "box", "tokens", "name", "tags", "rare", "image"]
    assert frame["id"].dtype == np.int64 and frame["id"].sum() == sum(range(COUNT))
    row = frame[frame["id"] == 9].iloc[0]
    assert row["box"].tolist() == [9, 1, 2, 3] and row["tokens"].tolist() == [0] and row["name"] == b"n\x009"
    assert row["image"].tolist() == [[9] * 3] * 2 and row["rare"].tolist() == [0.5]
    assert frame["rare"].isna().sum() == sum(number % 3 != 0 for number in range(COUNT))
    even = dataset.filter(lambda sample: sample["id"] % 2 == 0).to_pandas()
    assert even["id"].tolist() == [number for number in read_ids(dataset) if number % 2 == 0]


@deep
def test_pandas_reads_arrow_table(dataset: rm.Dataset) -> None:
    frame = dataset.to_arrow().to_pandas()
    assert frame["id"].tolist() == read_ids(dataset)
    assert [row.tolist() for row in frame["tokens"]] == [[*range(number % 4)] for number in read_ids(dataset)]
    assert frame["tags"].isna().sum() == sum(number % 3 != 0 for number in range(COUNT))


@deep
def test_polars_reads_arrow_table(dataset: rm.Dataset) -> None:
    import polars as pl

    frame = pl.from_arrow(decoded(dataset).to_arrow())
    assert isinstance(frame, pl.DataFrame)
    assert frame.schema["box"] == pl.Array(pl.Float32, 4)
    assert frame.schema["image"] == pl.Array(pl.UInt8, (2, 3))
    assert frame.drop("image").rows(named=True) == [
        {name: value for name, value in row.items() if name != "pixels"} for row in expected_rows(read_ids(dataset))
    ]
    assert frame["tags"].null_count() == sum(number % 3 != 0 for number in range(COUNT))
    assert frame.select(pl.col("tokens").list.len().sum()).item() == sum(number % 4 for number in range(COUNT))


@deep
def test_duckdb_queries_arrow_table(dataset: rm.Dataset) -> None:
    import duckdb

    connection = duckdb.connect()
    connection.register("samples", decoded(dataset).to_arrow())
    query = "SELECT count(*), sum(id), sum(len(tokens)), sum(box[1]), sum(image[2][3]), count(tags) FROM samples"
    ids = range(COUNT)
    assert connection.execute(query).fetchone() == (
        COUNT,
        sum(ids),
        sum(number % 4 for number in ids),
        sum(ids),
        sum(ids),
        sum(number % 3 == 0 for number in ids),
    )
    assert connection.execute("SELECT name FROM samples WHERE id = 12").fetchone() == (b"n\x0012",)


@deep
def test_hugging_face_datasets_wraps_arrow_table(dataset: rm.Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    import datasets

    wrapped = datasets.Dataset(decoded(dataset).to_arrow())
    assert wrapped.num_rows == COUNT
    ids = read_ids(dataset)
    assert wrapped[5]["id"] == ids[5] and wrapped[5]["image"] == [[ids[5]] * 3] * 2
    assert wrapped["tokens"][:8] == [[*range(number % 4)] for number in ids[:8]]
    assert wrapped.with_format("numpy")[0]["box"].tolist() == [ids[0], 1, 2, 3]
    assert wrapped.filter(lambda row: row["tags"] is not None).num_rows == sum(n % 3 == 0 for n in range(COUNT))
