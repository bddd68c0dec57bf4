"""Extreme pipelines: very many samples, empty epochs, strings of different lengths."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import recordmill as rm
from tests.pipeline.sources import ids, numbers


@pytest.mark.parametrize(
    "make",
    [
        lambda samples: samples.repeat(10**30),
        lambda samples: samples.repeat(2**40).repeat(2**40),
        lambda samples: samples.repeat().take(10**30),
        lambda samples: samples.repeat().skip(2**63),
        lambda samples: rm.mix([samples, samples], [1, 1], num_samples=10**30),
    ],
)
def test_pipeline_with_too_many_samples_is_refused(make: Any) -> None:
    with pytest.raises(ValueError, match=r"2\*\*62"):
        make(numbers(20))


def test_very_long_pipeline_counts_and_reads() -> None:
    long = numbers(20).repeat(10**15)
    assert len(long) == 20 * 10**15 and int(long[-1]["id"]) == 19
    assert len(numbers(20).take(10**30)) == 20
    assert next(iter(long.skip(10**16 + 3).batch(2).loader()))["id"].tolist() == [3, 4]


@pytest.mark.parametrize("threads", [0, 2])
def test_epoch_without_batch_causes_warning_that_names_filter(threads: int) -> None:
    def rare(sample: dict[str, Any]) -> bool:
        return bool(sample["id"] == 3)

    loader = numbers(20).filter(rare).batch(4, last="drop").loader(threads=threads)
    loader.set_epoch(1)
    with pytest.warns(RuntimeWarning, match=r"epoch 1 has no batch: filter\(.*rare\) passed 1 of 20 samples"):
        assert list(loader) == []


def test_empty_rest_of_filtered_epoch_causes_no_warning() -> None:
    def early(sample: dict[str, Any]) -> bool:
        return bool(sample["id"] < 4)

    assert list(numbers(200).filter(lambda sample: False)) == []
    loader = numbers(200).filter(early).batch(4).loader(threads=0)
    next(iter(loader))
    rest = numbers(200).filter(early).batch(4).loader()
    rest.load_state_dict(loader.state_dict())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert list(rest) == []


STRINGS = {
    "text": lambda number: np.str_("a" * (1 + number % 5)),
    "bytes": lambda number: np.bytes_(b"a" * (1 + number % 5)),
    "array": lambda number: np.array(["b", "a" * (1 + number % 5)]),
    "ragged": lambda number: np.array(["a" * (1 + number % 5)] * (number % 3 + 1)),
}


@pytest.mark.parametrize("make", STRINGS.values(), ids=STRINGS)
def test_strings_of_different_lengths_do_not_depend_on_threads(make: Any) -> None:
    samples = numbers(20).map(lambda sample: sample | {"name": make(int(sample["id"]))})
    found = [[batch["name"] for batch in samples.batch(3).loader(threads=count)] for count in (0, 3)]
    forms = [
        [(str(getattr(one, "dtype", "")), [np.asarray(row).tolist() for row in one]) for one in run] for run in found
    ]
    assert forms[0] == forms[1]
    assert [row for _, rows in forms[0] for row in rows] == [np.asarray(make(number)).tolist() for number in range(20)]


def test_map_on_batches_may_return_longer_strings() -> None:
    def named(batch: dict[str, Any]) -> dict[str, Any]:
        return {"id": batch["id"], "name": batch["id"].astype(str)}

    batches = list(numbers(12).batch(5).map(lambda batch: named({"id": batch["id"] ** 3})).loader())
    assert [str(batch["name"].dtype)[1] for batch in batches] == ["U", "U", "U"] and len(ids(batches)) == 12


def test_map_refuses_bytes_after_strings() -> None:
    def mixed(sample: dict[str, Any]) -> dict[str, Any]:
        return {"name": np.array(["a"]) if sample["id"] % 2 else np.array([b"a"])}

    with pytest.raises(rm.MapError, match="must always return 'name' in the form of the first result"):
        list(numbers(4).map(mixed).batch(2).loader(threads=0))
