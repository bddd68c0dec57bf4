"""The stages map, filter, take, skip, repeat, mix, batch and shard."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordmill as rm
from recordmill.pipeline.dataset import Dataset
from recordmill.types import Ragged
from tests.pipeline.sources import ids, numbers


def squared(sample: dict[str, Any]) -> dict[str, Any]:
    return {"id": sample["id"], "square": sample["id"] ** 2}


def odd(sample: dict[str, Any]) -> bool:
    return bool(sample["id"] % 2)


def summed(batch: dict[str, Any]) -> dict[str, Any]:
    return {"sum": batch["id"].sum()}


def drawn(sample: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    return {"draw": rng.random()}


def test_pipeline_has_repr_equality_and_pickle() -> None:
    one = numbers(10).shuffle(seed=3).map(squared).batch(4, last="drop")
    same = numbers(10).shuffle(seed=3).map(squared).batch(4, last="drop")
    assert one == same
    assert hash(one) == hash(same)
    assert one != numbers(10).shuffle(seed=4).map(squared).batch(4, last="drop")
    assert pickle.loads(pickle.dumps(one)) == one
    assert repr(one).endswith(".shuffle(seed=3).map(squared).batch(4, last='drop')")


def test_map_is_called_on_samples_or_batches() -> None:
    batches = list(numbers(10).map(squared).batch(4))
    assert [batch["square"].tolist() for batch in batches] == [[0, 1, 4, 9], [16, 25, 36, 49], [64, 81]]
    assert [int(batch["sum"]) for batch in numbers(10).batch(4).map(summed)] == [6, 22, 17]
    assert numbers(10).map(squared)[3] == {"id": 3, "square": 9}


def test_map_rng_depends_only_on_seed_epoch_and_position() -> None:
    dataset = numbers(50).shuffle(seed=9).map(drawn, rng=True)
    first = [one["draw"] for one in dataset.loader(threads=3)]
    assert first == [one["draw"] for one in dataset]
    assert len(set(first)) == 50
    assert first[7] == dataset[7]["draw"]
    assert first != [one["draw"] for one in dataset.fetch(range(50), epoch=1)]
    assert first != [one["draw"] for one in numbers(50).shuffle(seed=10).map(drawn, rng=True)]
    assert first != [one["draw"] for one in numbers(50).shuffle(seed=9).map(drawn, rng=True, seed=4)]


def test_filter_batches_contain_only_passed_samples() -> None:
    dataset = numbers(50).shuffle(seed=2).filter(odd).map(squared).batch(7)
    batches = list(dataset.loader(threads=2))
    assert [len(batch["id"]) for batch in batches] == [7, 7, 7, 4]
    assert ids(batches) == [number for number in ids(numbers(50).shuffle(seed=2)) if number % 2]
    with pytest.raises(TypeError, match="filter"):
        len(dataset)
    cut = numbers(50).filter(odd).skip(3).take(5).batch(2, last="keep")
    assert ids(cut) == [7, 9, 11, 13, 15]


@pytest.mark.parametrize("threads", [0, 2])
def test_filter_that_passes_nothing_of_endless_pipeline_raises_error(threads: int) -> None:
    endless = numbers(50).repeat().filter(lambda sample: sample["id"] > 99).batch(3)
    with pytest.raises(rm.MapError, match="no sample passes"):
        next(iter(endless.loader(threads=threads)))
    rare = numbers(500).repeat().filter(lambda sample: sample["id"] == 499).batch(3).take(2)
    assert ids(rare.loader(threads=threads)) == [499] * 6


def test_endless_repeat_can_be_ended_by_take() -> None:
    endless = numbers(7).shuffle(seed=1).repeat()
    with pytest.raises(TypeError, match="endless"):
        len(endless)
    loader = endless.batch(4).loader()
    found = [ids([batch]) for batch, _ in zip(loader, range(7), strict=False)]
    flat = [number for batch in found for number in batch]
    assert sorted(flat[:7]) == sorted(flat[7:14]) == list(range(7))
    assert flat[:7] != flat[7:14]
    assert ids(endless.take(20)) == flat[:20]
    assert ids(numbers(3).repeat(2)) == [0, 1, 2, 0, 1, 2]


def test_take_and_skip_after_batch_count_batches() -> None:
    dataset = numbers(50).batch(4).skip(2).take(3)
    assert len(dataset) == 3
    assert ids(dataset) == ids(dataset.loader()) == list(range(8, 20))
    endless = numbers(7).repeat().batch(4).skip(1).take(3)
    assert len(endless) == len(endless.loader()) == 3
    assert ids(endless) == ids(endless.loader()) == [number % 7 for number in range(4, 16)]


@pytest.mark.parametrize("world_size", [1, 2])
def test_take_and_skip_after_filtered_batch_count_batches(world_size: int) -> None:
    dataset = numbers(500).filter(odd).skip(1).take(200).batch(8 // world_size, last="drop").skip(2).take(3)
    expected = list(range(3 + 32, 3 + 32 + 48, 2))
    loaders = [dataset.loader(rank=rank, world_size=world_size) for rank in range(world_size)]
    assert together(loaders) == expected
    first = [next(iter(dataset.loader(rank=rank, world_size=world_size))) for rank in range(world_size)]
    loader = dataset.loader(rank=0, world_size=world_size)
    next(iter(loader))
    for other in loaders:
        other.load_state_dict(loader.state_dict())
    assert ids(first) + together(loaders) == expected


def together(loaders: list[Any]) -> list[int]:
    """Return the numbers of all ranks, batch by batch."""
    return [number for parts in zip(*map(list, loaders), strict=True) for number in ids(parts)]


@pytest.mark.parametrize("weights", [(1, 1), (3, 1), (0.9, 0.1), (0.995, 0.005)])
def test_mix_meets_weights_everywhere(weights: tuple[float, float]) -> None:
    shares = np.array(weights) / sum(weights)
    a, b = numbers(30_000, name="a").shuffle(seed=1), numbers(30_000, name="b").shuffle(seed=2)
    tagged = [one.map(lambda sample, tag=tag: sample | {"from": tag}) for tag, one in enumerate((a, b))]
    rows = rm.mix(tagged, weights, num_samples=20_000).batch(1_000)
    found = np.array([batch["from"].mean() for batch in rows])
    assert abs(found.mean() - shares[1]) < 0.005 * shares[1] + 0.5 / 20_000
    assert np.abs(found - shares[1]).max() <= 2 / 1_000


def test_mix_ends_before_any_part_repeats() -> None:
    mixed = rm.mix([numbers(100, name="a"), numbers(30, name="b")], [1, 1])
    assert len(mixed) in (60, 61)
    samples = mixed.batch(7)
    assert sorted(ids(samples)) == sorted([*range(len(mixed) - 30), *range(30)])
    assert ids(samples.loader(threads=3)) == ids(samples)


def test_mix_starts_next_epoch_of_exhausted_part() -> None:
    mixed = rm.mix([numbers(8, name="a").shuffle(seed=1), numbers(3, name="b").shuffle(seed=5)], [1, 1], num_samples=16)
    origins = [sample["id"] for sample in mixed.map(lambda sample: sample)]
    assert len(origins) == 16
    assert pickle.loads(pickle.dumps(mixed)) == mixed
    second = ids(mixed.fetch(range(16), epoch=1))
    assert second != ids(mixed)


def test_mix_calls_functions_before_and_after_it(tmp_path: Path) -> None:
    for name in ("a", "b"):
        with rm.ShardWriter(tmp_path / name) as writer:
            for number in range(30):
                writer.write({"id": number, "text": b"x" * (number % 4), "v": np.arange(number % 3)})
    one, other = rm.open(tmp_path / "a*"), rm.open(tmp_path / "b*")
    mixed = rm.mix([one.map(lambda sample: sample | {}), other], [1, 1])
    plain = rm.mix([one, other], [1, 1])
    for both in (mixed, plain):
        batches = list(both.map(lambda sample: sample | {"more": 1}).batch(9).loader(threads=2))
        assert sum(batch["more"].sum() for batch in batches) == len(both)
    for size in (1, 7):
        for first, second in zip(mixed.batch(size).loader(), plain.batch(size).loader(), strict=True):
            assert first["text"].to_list() == second["text"].to_list()
            assert [row.tolist() for row in first["v"]] == [row.tolist() for row in second["v"]]


def test_mix_refuses_invalid_arguments() -> None:
    with pytest.raises(ValueError, match="weights"):
        rm.mix([numbers(3)], [0.0])
    with pytest.raises(ValueError, match="weights"):
        rm.mix([numbers(3)], [1, 1])
    with pytest.raises(ValueError, match="unbatched"):
        rm.mix([numbers(3).batch(2)], [1])
    with pytest.raises(rm.FeatureError, match="different features"):
        rm.mix([numbers(30), numbers(30).map(squared)], [1, 1]).fetch(range(10))


def test_last_pad_adds_valid() -> None:
    rows = [list(numbers(10).batch(4, last="pad").loader(rank=rank, world_size=2)) for rank in (0, 1)]
    assert [batch["id"].tolist() for batch in rows[0]] == [[0, 1, 2, 3], [8, 9, 0, 0]]
    assert [batch["id"].tolist() for batch in rows[1]] == [[4, 5, 6, 7], [0, 0, 0, 0]]
    assert [batch["valid"].tolist() for batch in rows[0]] == [[True] * 4, [True, True, False, False]]
    assert rows[1][1]["valid"].tolist() == [False] * 4


def test_last_wrap_fills_with_first_samples() -> None:
    assert [batch["id"].tolist() for batch in numbers(5).batch(3, last="wrap")] == [[0, 1, 2], [3, 4, 0]]


def test_ragged_chooses_form_of_rows_of_different_lengths() -> None:
    def counted(sample: dict[str, Any]) -> dict[str, Any]:
        return {"n": np.arange(sample["id"]), "b": b"x" * int(sample["id"]), "s": str(sample["id"])}

    ragged = numbers(3).map(counted).batch(3)[0]
    assert isinstance(ragged["n"], Ragged)
    assert ragged["n"].to_list() == [[], [0], [0, 1]]
    assert ragged["b"].to_list() == [b"", b"x", b"xx"]
    assert ragged["s"] == ["0", "1", "2"]
    padded = numbers(3).map(counted).batch(3, ragged="pad")[0]
    assert padded["n"].tolist() == [[0, 0], [0, 0], [0, 1]]
    listed = numbers(3).map(counted).batch(3, ragged="list")[0]
    assert listed["b"] == [b"", b"x", b"xx"]


@pytest.mark.parametrize(
    "make",
    [
        lambda d: d.batch(2).shuffle(),
        lambda d: d.batch(2).batch(2),
        lambda d: d.batch(2).filter(odd),
        lambda d: d.filter(odd).shuffle(),
        lambda d: d.filter(odd).repeat(2),
        lambda d: d.repeat().shuffle(),
        lambda d: d.filter(odd).batch(2, last="wrap"),
        lambda d: d.shard(0, 2).shard(1, 2),
        lambda d: d.shard(2, 2),
        lambda d: d.shard(rank=1),
        lambda d: d.take(0).loader(),
        lambda d: d.skip(9).loader(),
        lambda d: d.batch(2).skip(5).loader(),
        lambda d: d.batch(2).take(0).loader(),
        lambda d: d.filter(odd).batch(2).take(0).loader(),
        lambda d: rm.mix([d.shard(0, 2), d], [1, 1]),
        lambda d: d.shuffle(block=2.5),
        lambda d: d.shuffle(window="8"),
        lambda d: d.loader(threads=1.5),
        lambda d: d.loader(prefetch=True),
        lambda d: d.loader(rank=0.0, world_size=1),
        lambda d: d.loader(max_errors=float("nan")),
        lambda d: d.filter(odd).batch(2).loader(on_error="substitute"),
        lambda d: d.batch(11, last="drop").loader(),
        lambda d: d.batch(1).loader(rank=3, world_size=4),
    ],
)
def test_invalid_combination_of_stages_raises_value_error(make: Any) -> None:
    dataset: Dataset = numbers(9)
    with pytest.raises(ValueError):  # noqa: PT011 (each says something of its own)
        make(dataset)
