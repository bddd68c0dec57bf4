"""Which process of a training run this is, as OneFlow's launcher tells it."""

from __future__ import annotations

import os

from recordmill.compat.oneflow.absent import absent

__getattr__ = absent("flow.env")


def init() -> bool:
    """Return True: there is nothing to begin."""
    return True


def get_rank() -> int:
    """Return the number of this process, from the variable RANK."""
    return int(os.environ.get("RANK", "0"))


def get_world_size() -> int:
    """Return the number of processes, from the variable WORLD_SIZE."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def get_local_rank() -> int:
    """Return the number of this process on its machine, from the variable LOCAL_RANK."""
    return int(os.environ.get("LOCAL_RANK", "0"))


def share_of(num_parts: int, rank: int, world_size: int) -> range:
    """Parts that a process reads: neighbours, the first processes one more where it does not come out even."""
    if not 0 <= rank < world_size:
        raise ValueError(f"RANK is 0 to WORLD_SIZE - 1 = {world_size - 1}, not {rank}")
    if world_size > num_parts:
        raise ValueError(f"data_part_num is at least the number of processes, {world_size}, not {num_parts}")
    even, more = divmod(num_parts, world_size)
    start = rank * even + min(rank, more)
    return range(start, start + even + (rank < more))
