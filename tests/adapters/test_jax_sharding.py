"""Invalid devices and shardings are refused before the first batch is loaded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import recordmill as rm
from tests.adapters.squares import NUM_SAMPLES

pytestmark = pytest.mark.deep


@pytest.fixture
def samples(squares: Path) -> rm.Dataset:
    return rm.open(squares / "tfrecord")


def create_sharding(num_devices: int) -> Any:
    """Return a sharding of the first dimension over devices that need not exist."""
    from jax.sharding import AbstractMesh, NamedSharding, PartitionSpec

    return NamedSharding(AbstractMesh((num_devices // 2, 2), ("rows", "columns")), PartitionSpec(("rows", "columns")))


def test_arrays_refuses_device_with_sharding(samples: rm.Dataset) -> None:
    with pytest.raises(ValueError, match="cannot be combined"):
        rm.jax.arrays({}, device=object(), sharding=object())


def test_loader_refuses_invalid_device(samples: rm.Dataset) -> None:
    for device in ("cpu", [0, 1], create_sharding(4)):
        with pytest.raises(TypeError, match=r"device must be one of jax.devices\(\), got .* use sharding="):
            rm.jax.loader(samples.batch(8), device=device)


def test_mesh_or_spec_is_refused_as_sharding(samples: rm.Dataset) -> None:
    for part in (create_sharding(4).mesh, create_sharding(4).spec):
        with pytest.raises(TypeError, match="NamedSharding"):
            rm.jax.loader(samples.batch(8), sharding=part)
        with pytest.raises(TypeError, match="NamedSharding"):
            rm.jax.arrays({}, sharding=part)


@pytest.mark.parametrize("world_size, size", [(1, 12), (2, 3)])
def test_loader_refuses_batch_size_that_parts_do_not_divide(world_size: int, size: int, samples: rm.Dataset) -> None:
    with pytest.raises(ValueError, match=f"multiple of {8 // world_size}"):
        rm.jax.loader(samples.batch(size, last="drop"), sharding=create_sharding(8), rank=0, world_size=world_size)


@pytest.mark.parametrize("world_size, num_devices", [(1, 4), (4, 2)])
def test_loader_refuses_last_batch_that_parts_do_not_divide(
    world_size: int, num_devices: int, samples: rm.Dataset
) -> None:
    options = {"sharding": create_sharding(num_devices), "rank": 0, "world_size": world_size}
    size = 16 // world_size
    with pytest.raises(ValueError, match=rf"the last {NUM_SAMPLES % 16} samples .* batch\({size}, last=.drop.\)"):
        rm.jax.loader(samples.batch(size), **options)
    for last in ("drop", "pad", "wrap"):
        rm.jax.loader(samples.batch(size, last=last), **options).close()
    rm.jax.loader(samples.take(88 if world_size == 1 else 80).batch(size), **options).close()
    rm.jax.loader(samples.batch(size).map(dict), **options).close()


def test_loader_refuses_sharding_without_batches(samples: rm.Dataset) -> None:
    with pytest.raises(ValueError, match=r"add batch\(n\) to the end of the pipeline"):
        rm.jax.loader(samples, sharding=create_sharding(2))
