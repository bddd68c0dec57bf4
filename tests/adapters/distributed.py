"""One process of a PyTorch training: python distributed.py RANK PROCESSES MEETING FOLDER BATCH; prints what it saw.

The processes train one network together; gradients are averaged over them by DistributedDataParallel.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import recordmill as rm
from tests.adapters.digits import FAMILIES, NUM_KINDS

EPOCHS = 2


def main() -> None:
    """Train on this rank's share of each family and print the labels of its batches and the last weights."""
    import torch

    rank, processes, batch_size = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[5])
    torch.set_num_threads(1)
    meeting = f"file://{sys.argv[3]}"
    torch.distributed.init_process_group("gloo", init_method=meeting, rank=rank, world_size=processes)
    try:
        print(json.dumps({family: trained(f"{sys.argv[4]}/{family}", batch_size) for family in FAMILIES}))
    finally:
        torch.distributed.destroy_process_group()


def trained(folder: str, batch_size: int) -> dict[str, Any]:
    """Train for some epochs on the share that the process group says is ours."""
    import torch

    image = rm.Image(channels="gray", dtype="float32", scale=1 / 255)
    pipeline = rm.open(folder).shuffle(seed=5).shard().decode(image=image).batch(batch_size, last="drop")
    torch.manual_seed(0)
    network = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(64, NUM_KINDS))
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
