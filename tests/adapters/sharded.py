"""One process of a JAX training: python sharded.py RANK PROCESSES DEVICES PORT FOLDER BATCH; prints what it holds."""

from __future__ import annotations

import json
import os
import sys

import recordmill as rm


def main() -> None:
    """Make global arrays from this process's batches and print which rows lie here."""
    rank, processes, devices, port = (int(argument) for argument in sys.argv[1:5])
    os.environ["JAX_PLATFORMS"] = "cpu"
    os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={devices}"
    import jax

    if processes > 1:
        jax.distributed.initialize(f"localhost:{port}", processes, rank)
    mesh = jax.sharding.Mesh(jax.devices(), ("data",))
    sharding = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("data"))
    shuffled = rm.open(sys.argv[5]).shuffle(seed=5)
    told: dict = {"shapes": [], "rows": []}
    with rm.jax.loader(shuffled.batch(int(sys.argv[6]), last="drop"), sharding=sharding) as loader:
        told["ranks"] = [loader.rank, loader.world_size]
        for number, batch in enumerate(loader):
            label = batch["label"]
            told["shapes"].append(list(label.shape))
            for shard in label.addressable_shards:
                told["rows"].append([number, shard.index[0].start or 0, shard.data.tolist()])
    told["refused"] = is_refused(shuffled, sharding)
    told["shared"] = shared(shuffled, jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec()))
    print(json.dumps(told))


def is_refused(dataset: rm.Dataset, sharding: object) -> bool:
    """Tell whether batches that the devices do not divide, behind a function, are an error that names the feature."""
    batches = dataset.batch(5).map(lambda batch: {"label": batch["label"]})
    with rm.jax.loader(batches, sharding=sharding) as loader:
        try:
            next(iter(loader))
        except rm.FeatureError as error:
            return "'label'" in str(error)
    return False


def shared(dataset: rm.Dataset, everywhere: object) -> list:
    """What comes of a sharding by which all processes hold the same rows: by default, and with the ranks it names."""
    batches = dataset.batch(8)
    found: list = []
    with rm.jax.loader(batches, sharding=everywhere) as loader:
        try:
            found.append(next(iter(loader))["label"].shape)
        except ValueError as error:
            found.append(str(error))
    with rm.jax.loader(batches, sharding=everywhere, rank=0, world_size=1) as loader:
        found.append([shard.data.tolist() for shard in next(iter(loader))["label"].addressable_shards])
    return found


if __name__ == "__main__":
    main()
