"""Padded batches: values and sizes of padding, arrays with several ragged axes, errors, resume."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordmill as rm
from tests.pipeline.sources import numbers


def grids(sample: dict[str, Any]) -> dict[str, Any]:
    number = int(sample["id"])
    return {"grid": np.full((number + 1, 4 - number % 4, 2), number + 1, np.float32), "id": sample["id"]}


def tokens(sample: dict[str, Any]) -> dict[str, Any]:
    return {"tokens": np.arange(1, sample["id"] + 1), "id": sample["id"]}


@pytest.fixture
def sentences(tmp_path: Path) -> rm.Dataset:
    """Five records with 1 to 5 tokens, a name of as many bytes, and a vector of fixed size."""
    with rm.ShardWriter(tmp_path / "part") as writer:
        for count in range(1, 6):
            vector = np.ones(2, np.float32)
            writer.write({"tokens": np.arange(1, count + 1), "name": b"x" * count, "vector": vector})
    return rm.open(tmp_path)


@pytest.mark.parametrize("workers", ["threads", "processes"])
def test_batch_pad_fills_every_ragged_axis(workers: Any) -> None:
    batch = next(iter(numbers(8).map(grids, workers=workers).batch(3, ragged="pad", pad_value=-1).loader(threads=1)))
    assert (batch["grid"].shape, batch["grid"].dtype) == ((3, 3, 4, 2), np.float32)
    for number in range(3):
        inside = np.zeros((3, 4), bool)
        inside[: number + 1, : 4 - number] = True
        assert (batch["grid"][number][inside] == number + 1).all()
        assert (batch["grid"][number][~inside] == -1).all()


@pytest.mark.parametrize("ragged", ["ragged", "list"])
def test_batch_keeps_arrays_with_several_ragged_axes_as_list(ragged: Any) -> None:
    grid = numbers(8).map(grids).batch(3, ragged=ragged)[0]["grid"]
    assert isinstance(grid, list)
    assert [array.shape for array in grid] == [(1, 4, 2), (2, 3, 2), (3, 2, 2)]


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.float64, np.bool_, np.uint64])
def test_batch_pad_fills_arrays_of_every_dtype(dtype: Any) -> None:
    dataset = numbers(3).map(lambda sample: {"x": np.ones(sample["id"], dtype), "y": np.ones((sample["id"], 2), dtype)})
    batch = dataset.batch(3, ragged="pad")[0]
    assert batch["x"].dtype == batch["y"].dtype == dtype
    assert batch["x"].astype(int).tolist() == [[0, 0], [1, 0], [1, 1]]
    assert batch["y"][..., 1].astype(int).tolist() == [[0, 0], [1, 0], [1, 1]]


def test_batch_pad_value_is_one_for_all_or_by_feature(sentences: rm.Dataset) -> None:
    assert sentences.batch(2, ragged="pad", pad_value=-100)[0]["tokens"].tolist() == [[1, -100], [1, 2]]
    assert sentences.batch(2, ragged="pad", pad_value={"tokens": 7})[0]["tokens"].tolist() == [[1, 7], [1, 2]]
    words = numbers(3).map(lambda sample: {"x": np.array(["a"] * sample["id"], "U3")})
    assert words.batch(3, ragged="pad", pad_value=-1)[0]["x"].tolist() == [["", ""], ["a", ""], ["a", "a"]]
    assert words.batch(3, ragged="pad", pad_value={"x": "no"})[0]["x"].tolist()[0] == ["no", "no"]


@pytest.mark.parametrize(
    "options, widths",
    [
        ({}, [2, 4, 5]),
        ({"pad_to": 6}, [6, 6, 6]),
        ({"pad_to": {"tokens": 6}}, [6, 6, 6]),
        ({"pad_to_multiple_of": 3}, [3, 6, 6]),
        ({"pad_to_multiple_of": {"tokens": 4}}, [4, 4, 8]),
        ({"pad_to_multiple_of": 4, "pad_to": {"tokens": 5}}, [5, 5, 5]),
    ],
)
def test_batch_sizes_of_padded_features_follow_options(
    sentences: rm.Dataset, options: dict[str, Any], widths: list[int]
) -> None:
    batches = list(sentences.batch(2, ragged="pad", **options))
    assert [batch["tokens"].shape[1] for batch in batches] == widths
    assert [batch["tokens"].sum() for batch in batches] == [4, 16, 15]
    assert all(batch["vector"].shape[1:] == (2,) for batch in batches)
    assert all(isinstance(batch["name"], rm.Ragged) for batch in batches)


def test_batch_pads_named_features_whose_rows_are_equal(sentences: rm.Dataset) -> None:
    batch = sentences.batch(2, ragged="pad", pad_to={"vector": 3, "name": 4})[1]
    assert batch["vector"].tolist() == [[1, 1, 0]] * 2
    assert batch["name"].tolist() == [[120, 120, 120, 0], [120] * 4]
    single = numbers(4).map(tokens).batch(1, ragged="pad", pad_to={"tokens": 5})
    assert [batch["tokens"].shape for batch in single] == [(1, 5)] * 4


def test_batch_pad_to_takes_one_size_per_axis() -> None:
    options: Any = {"pad_to": {"grid": (8, None, 3)}, "pad_value": 9}
    shapes = [batch["grid"].shape for batch in numbers(8).map(grids).batch(2, ragged="pad", **options)]
    assert shapes == [(2, 8, 4, 3), (2, 8, 2, 3), (2, 8, 4, 3), (2, 8, 2, 3)]
    multiple = numbers(8).map(grids).batch(2, ragged="pad", pad_to_multiple_of={"grid": (5, 3, None)})
    assert [batch["grid"].shape for batch in multiple] == [(2, 5, 6, 2), (2, 5, 3, 2), (2, 10, 6, 2), (2, 10, 3, 2)]


def test_batch_pads_sequences_on_both_levels(tmp_path: Path) -> None:
    with rm.ShardWriter(tmp_path / "part", payload="sequence_example") as writer:
        writer.write({"t": rm.FeatureList([[1], [2, 3]])})
        writer.write({"t": rm.FeatureList([[4, 5, 6]])})
    dataset = rm.open(tmp_path)
    batch = dataset.batch(2, ragged="pad", pad_value=-1, pad_to_multiple_of=4)[0]
    assert batch["t"].shape == (2, 4, 4)
    assert batch["t"][0].tolist() == [[1, -1, -1, -1], [2, 3, -1, -1], [-1] * 4, [-1] * 4]
    with pytest.raises(rm.FeatureError) as caught:
        dataset.batch(2, ragged="pad", pad_to={"t": (2, 2)})[0]
    assert (caught.value.record, caught.value.found) == (1, "shape (1, 3)")


@pytest.mark.parametrize("shuffled", [False, True])
def test_batch_pad_error_names_feature_shape_and_record(sentences: rm.Dataset, shuffled: bool) -> None:
    dataset = sentences.shuffle(seed=3) if shuffled else sentences
    with pytest.raises(rm.FeatureError, match="feature 'tokens' is longer than pad_to") as caught:
        list(dataset.batch(5, ragged="pad", pad_to=4).loader())
    error = caught.value
    assert (error.feature, error.kind, error.record) == ("tokens", "feature_mismatch", 4)
    assert (error.expected, error.found) == ("at most 4 on axis 0", "shape (5,)")
    assert error.shard is not None and error.offset is not None and "pad_to" in str(error.hint)


@pytest.mark.parametrize(
    "options, found",
    [({"grid": (3, 4, 2)}, "shape (4, 1, 2)"), ({"grid": (8, 3, 2)}, "shape (1, 4, 2)")],
)
def test_batch_pad_error_names_first_array_that_is_too_long(options: Any, found: str) -> None:
    with pytest.raises(rm.FeatureError) as caught:
        list(numbers(4).map(grids).filter(lambda _: True).batch(4, ragged="pad", pad_to=options).loader())
    assert caught.value.found == found
    assert caught.value.record == (3 if found == "shape (4, 1, 2)" else 0)


@pytest.mark.parametrize(
    "options, words",
    [
        ({"pad_to": {"word": 3}}, "pad_to names the feature 'word'"),
        ({"pad_value": {"word": 3}}, "pad_value names the feature 'word'"),
        ({"pad_value": 0.5}, "pad value 0.5 of feature 'tokens' cannot be represented as int64"),
        ({"pad_value": float("nan")}, "cannot be represented"),
        ({"pad_value": {"tokens": "x"}}, "cannot be represented"),
        ({"pad_to": {"tokens": (8, 8)}}, "one size per axis"),
        ({"pad_to": {"vector": 1}}, "feature 'vector' is longer than pad_to"),
    ],
)
def test_batch_refuses_padding_that_does_not_fit_features(
    sentences: rm.Dataset, options: dict[str, Any], words: str
) -> None:
    with pytest.raises(rm.FeatureError, match=words) as caught:
        sentences.batch(5, ragged="pad", **options)[0]
    assert caught.value.kind == "feature_mismatch"


@pytest.mark.parametrize(
    "value, dtype, fits",
    [
        (300, np.uint8, False),
        (-1, np.uint8, False),
        (255, np.uint8, True),
        (np.nan, np.float32, True),
        (0.1, np.float32, True),
        (1e300, np.float32, False),
        (True, np.bool_, True),
        (2, np.bool_, False),
    ],
)
def test_batch_pad_value_must_be_representable(value: Any, dtype: Any, fits: bool) -> None:
    dataset = numbers(2).map(lambda sample: {"x": np.ones(sample["id"], dtype)}).batch(2, ragged="pad", pad_value=value)
    if fits:
        assert np.array_equal(dataset[0]["x"][0], np.array([value], dtype), equal_nan=dtype is np.float32)
    else:
        with pytest.raises(rm.FeatureError, match="feature 'x' cannot be represented"):
            dataset[0]


def test_batch_needs_size_of_every_axis_of_named_arrays() -> None:
    with pytest.raises(rm.FeatureError, match="pad_to of feature 'grid' must be a tuple"):
        numbers(4).map(grids).batch(2, ragged="pad", pad_to={"grid": 8})[0]


def test_batch_pad_refuses_arrays_of_different_dtypes() -> None:
    whole = numbers(4).map(lambda sample: {"x": np.ones(sample["id"], np.int64)})
    halves = numbers(4).map(lambda sample: {"x": np.ones(sample["id"] + 1, np.float32)})
    with pytest.raises(rm.FeatureError, match="feature 'x' cannot be padded") as caught:
        rm.mix([whole, halves], weights=[1, 1]).batch(4, ragged="pad")[0]
    assert "float32" in str(caught.value) and "int64" in str(caught.value)


@pytest.mark.parametrize(
    "options",
    [
        {"pad_to": -1},
        {"pad_to": 2.5},
        {"pad_to": (2, 3)},
        {"pad_to_multiple_of": 0},
        {"pad_to": 4, "pad_to_multiple_of": 2},
        {"pad_to": {"x": "long"}},
        {"pad_value": [1, 2]},
        {"pad_value": {"x": None}},
        {"ragged": "ragged", "pad_to": 4},
        {"ragged": "list", "pad_value": -1},
    ],
)
def test_batch_refuses_invalid_padding_options(options: dict[str, Any]) -> None:
    with pytest.raises((ValueError, TypeError), match="pad_"):
        numbers(4).batch(2, **{"ragged": "pad"} | options)


def test_batch_with_padding_can_be_printed_compared_and_pickled() -> None:
    dataset = numbers(4).batch(2, ragged="pad", pad_value=-100, pad_to={"x": (8, None)})
    assert repr(dataset).endswith("ragged='pad', pad_value=-100, pad_to={'x': (8, None)})")
    assert pickle.loads(pickle.dumps(dataset)).batch_stage == dataset.batch_stage
    assert dataset.batch_stage != numbers(4).batch(2, ragged="pad").batch_stage
    assert hash(dataset.batch_stage) == hash(numbers(4).batch(2, ragged="pad", **PADDING).batch_stage)


PADDING: Any = {"pad_value": -100, "pad_to": {"x": (8, None)}}


@pytest.mark.parametrize("threads", [0, 2])
def test_resume_continues_with_equal_padded_batches(sentences: rm.Dataset, threads: int) -> None:
    dataset = sentences.shuffle(seed=1).repeat(3).batch(4, ragged="pad", pad_value=-1, pad_to_multiple_of=2)
    whole = [batch["tokens"].tolist() for batch in dataset.loader(threads=threads)]
    first = dataset.loader(threads=threads)
    iterator = iter(first)
    begun = [next(iterator)["tokens"].tolist() for _ in range(2)]
    rest = dataset.loader(threads=threads)
    rest.load_state_dict(first.state_dict())
    assert begun + [batch["tokens"].tolist() for batch in rest] == whole


@pytest.mark.parametrize("rank", [0, 1])
def test_batch_pad_of_rank_without_samples_has_padded_shape(rank: int) -> None:
    dataset = numbers(5).map(tokens).batch(2, last="pad", ragged="pad", pad_to={"tokens": 6}, pad_value=-1)
    batch = list(dataset.loader(rank=rank, world_size=2))[-1]
    assert batch["tokens"].shape == (2, 6)
    assert batch["tokens"][~batch["valid"]].tolist() == [[0] * 6] * (2 - int(batch["valid"].sum()))
