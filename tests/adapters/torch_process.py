"""One rank of a distributed PyTorch training: python torch_process.py RANK WORLD_SIZE STORE FOLDER BATCH.

The ranks train one network with DistributedDataParallel. Each prints the labels of its batches and the final weights.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import recordmill as rm
from tests.adapters.squares import FAMILIES, NUM_CLASSES

EPOCHS = 2


def main() -> None:
    """Train on each family and print the labels of this rank's batches and the final weights."""
    import torch

    rank, world_size, batch_size = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[5])
    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo", init_method=f"file://{sys.argv[3]}", rank=rank, world_size=world_size)
    try:
        print(json.dumps({family: train(f"{sys.argv[4]}/{family}", batch_size) for family in FAMILIES}))
    finally:
        torch.distributed.destroy_process_group()


def train(folder: str, batch_size: int) -> dict[str, Any]:
    """Train on the batches of this rank, which the loader takes from the process group."""
    import torch

    image = rm.Image(channels="gray", dtype="float32", scale=1 / 255)
    pipeline = rm.open(folder).shuffle(seed=5).shard().decode(image=image).batch(batch_size, last="drop")
    torch.manual_seed(0)
    network = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(64, NUM_CLASSES))
    model = torch.nn.parallel.DistributedDataParallel(network)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    labels = []
    with rm.torch.loader(pipeline) as loader:
        for epoch in range(EPOCHS):
            loader.set_epoch(epoch)
            for batch in loader:
                optimizer.zero_grad()
                torch.nn.functional.cross_entropy(model(batch["image"]), batch["label"].long()).backward()
                optimizer.step()
                labels.append(batch["label"].tolist())
        ranks = [loader.rank, loader.world_size]
    return {"ranks": ranks, "labels": labels, "weights": network[1].weight.flatten().tolist()}


if __name__ == "__main__":
    main()
