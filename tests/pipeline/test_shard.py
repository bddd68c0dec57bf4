"""The rank of a process: from arguments, frameworks and launchers."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest

from recordmill.pipeline.stages.shard import find_rank
from tests.pipeline.sources import ids, numbers

VARIABLES = [
    ("RANK", "WORLD_SIZE"),
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("PMI_RANK", "PMI_SIZE"),
    ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS"),
]


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for pair in VARIABLES for name in pair]:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setitem(sys.modules, "torch.distributed", None)
    monkeypatch.setitem(sys.modules, "jax._src.distributed", None)


def test_find_rank_defaults_to_single_process() -> None:
    assert find_rank() == (0, 1)
    assert find_rank(2, 3) == (2, 3)


@pytest.mark.parametrize("rank, size", VARIABLES)
def test_shard_uses_rank_of_launcher(rank: str, size: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(rank, "1")
    monkeypatch.setenv(size, "2")
    assert find_rank() == (1, 2)
    assert ids(numbers(8).shard().batch(2).loader()) == [2, 3, 6, 7]
    assert ids(numbers(8).shard(0, 2).batch(2).loader()) == [0, 1, 4, 5]
    assert ids(numbers(8).batch(2).loader()) == list(range(8)), "only shard() asks"
    monkeypatch.setenv(size, "many")
    with pytest.raises(ValueError, match="must be integers"):
        find_rank()


def test_find_rank_prefers_framework_to_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANK", "0")
    monkeypatch.setenv("WORLD_SIZE", "9")
    state = SimpleNamespace(client=object(), process_id=3, num_processes=4)
    monkeypatch.setitem(sys.modules, "jax._src.distributed", SimpleNamespace(global_state=state))
    assert find_rank() == (3, 4)
    torch = SimpleNamespace(
        is_available=lambda: True, is_initialized=lambda: True, get_rank=lambda: 1, get_world_size=lambda: 2
    )
    monkeypatch.setitem(sys.modules, "torch.distributed", torch)
    assert find_rank() == (1, 2)


@pytest.mark.parametrize("given", [(1, None), (None, 2), (2, 2), (-1, 2), (0, 0)])
def test_find_rank_refuses_invalid_rank(given: tuple[int | None, int | None]) -> None:
    with pytest.raises(ValueError, match=r"rank"):
        find_rank(*given)


@pytest.mark.parametrize("on_error", ["skip", "substitute"])
@pytest.mark.parametrize("threads", [0, 2])
def test_batch_without_samples_has_form_even_if_template_fails(on_error: Any, threads: int) -> None:
    loader = numbers(3, 0).batch(1, last="pad").loader(rank=3, world_size=4, on_error=on_error, threads=threads)
    (batch,) = loader
    assert {name: value.tolist() for name, value in batch.items()} == {"id": [0], "valid": [False]}
    assert not loader.report.skipped
