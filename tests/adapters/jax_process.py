"""One process of a JAX training: python jax_process.py RANK PROCESSES DEVICES PORT FOLDER BATCH.

It prints the rows of global arrays that are on its devices.
"""

from __future__ import annotations

import json
import os
import sys

import recordmill as rm


def main() -> None:
    """Create global arrays from the batches of this process and print the rows on its devices."""
    rank, processes, devices, port = (int(argument) for argument in sys.argv[1:5])
    os.environ["JAX_PLATFORMS"] = "cpu"
    os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={devices}"
    import jax

    if processes > 1:
        jax.distributed.initialize(f"localhost:{port}", processes, rank)
    mesh = jax.sharding.Mesh(jax.devices(), ("data",))
    sharding = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("data"))
    shuffled = rm.open(sys.argv[5]).shuffle(seed=5)
    output: dict = {"shapes": [], "rows": []}
    with rm.jax.loader(shuffled.batch(int(sys.argv[6]), last="drop"), sharding=sharding) as loader:
        output["ranks"] = [loader.rank, loader.world_size]
        for number, batch in enumerate(loader):
            label = batch["label"]
            output["shapes"].append(list(label.shape))
            for shard in label.addressable_shards:
                output["rows"].append([number, shard.index[0].start or 0, shard.data.tolist()])
    output["refused"] = _is_refused(shuffled, sharding)
    output["replicated"] = _load_replicated(shuffled, jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec()))
    print(json.dumps(output))


def _is_refused(dataset: rm.Dataset, sharding: object) -> bool:
    """Return whether the error for batches that the devices cannot divide evenly names the feature."""
    batches = dataset.batch(5).map(lambda batch: {"label": batch["label"]})
    with rm.jax.loader(batches, sharding=sharding) as loader:
        try:
            next(iter(loader))
        except rm.FeatureError as error:
            return "'label'" in str(error)
    return False


def _load_replicated(dataset: rm.Dataset, sharding: object) -> list:
    """Load a batch that is replicated on all processes: with default ranks, and with the ranks of the error message."""
    batches = dataset.batch(8)
    results: list = []
    with rm.jax.loader(batches, sharding=sharding) as loader:
        try:
            results.append(next(iter(loader))["label"].shape)
        except ValueError as error:
            results.append(str(error))
    with rm.jax.loader(batches, sharding=sharding, rank=0, world_size=1) as loader:
        results.append([shard.data.tolist() for shard in next(iter(loader))["label"].addressable_shards])
    return results


if __name__ == "__main__":
    main()
