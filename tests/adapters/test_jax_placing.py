"""Devices and shardings that cannot take the batches of a loader: refused before the first one is made."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import recordmill as rm
from tests.adapters.digits import NUM_SAMPLES

pytestmark = pytest.mark.deep


@pytest.fixture
def samples(squares: Path) -> rm.Dataset:
    return rm.open(squares / "tfrecord")


def over(num_devices: int) -> Any:
    """Shard the first dimension over devices that need not be there."""
    from jax.sharding import AbstractMesh, NamedSharding, PartitionSpec

    return NamedSharding(AbstractMesh((num_devices // 2, 2), ("rows", "columns")), PartitionSpec(("rows", "columns")))


def test_device_and_sharding_when_both_are_given_then_are_refused(samples: rm.Dataset) -> None:
    with pytest.raises(ValueError, match="not both"):
        rm.jax.arrays({}, device=object(), sharding=object())


def test_device_when_it_is_none_then_is_refused_with_what_is_one(samples: rm.Dataset) -> None:
    for device in ("cpu", [0, 1], over(4)):
        with pytest.raises(TypeError, match=r"device is one of jax.devices\(\), not .* is sharding="):
            rm.jax.loader(samples.batch(8), device=device)


def test_sharding_when_it_is_a_mesh_or_a_spec_then_is_refused_with_what_joins_them(samples: rm.Dataset) -> None:
    for part in (over(4).mesh, over(4).spec):
        with pytest.raises(TypeError, match="NamedSharding"):
            rm.jax.loader(samples.batch(8), sharding=part)
        with pytest.raises(TypeError, match="NamedSharding"):
            rm.jax.arrays({}, sharding=part)


@pytest.mark.parametrize("world_size, size", [(1, 12), (2, 3)])
def test_batches_when_the_devices_do_not_divide_them_then_are_refused(
    world_size: int, size: int, samples: rm.Dataset
) -> None:
    with pytest.raises(ValueError, match=f"multiple of {8 // world_size}"):
        rm.jax.loader(samples.batch(size, last="drop"), sharding=over(8), rank=0, world_size=world_size)


@pytest.mark.parametrize("world_size, num_devices", [(1, 4), (4, 2)])
def test_last_batch_when_it_cannot_be_divided_then_is_refused_at_once(
    world_size: int, num_devices: int, samples: rm.Dataset
) -> None:
    options = {"sharding": over(num_devices), "rank": 0, "world_size": world_size}
    size = 16 // world_size
    with pytest.raises(ValueError, match=rf"the last {NUM_SAMPLES % 16} samples .* batch\({size}, last=.drop.\)"):
        rm.jax.loader(samples.batch(size), **options)
    for last in ("drop", "pad", "wrap"):
        rm.jax.loader(samples.batch(size, last=last), **options).close()
    rm.jax.loader(samples.take(88 if world_size == 1 else 80).batch(size), **options).close()
    rm.jax.loader(samples.batch(size).map(dict), **options).close()


def test_samples_when_sharded_then_are_refused(samples: rm.Dataset) -> None:
    with pytest.raises(ValueError, match=r"end the pipeline with batch\(n\)"):
        rm.jax.loader(samples, sharding=over(2))
