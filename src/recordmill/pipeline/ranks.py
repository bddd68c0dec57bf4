"""Which of the processes of a training run this one is."""

from __future__ import annotations

import os
import sys

from recordmill.pipeline.checks import is_whole

# Rank and number of processes, as launchers tell them: torchrun and accelerate, Open MPI, MPICH and Intel MPI, Slurm.
_VARIABLES = (
    ("RANK", "WORLD_SIZE"),
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("PMI_RANK", "PMI_SIZE"),
    ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS"),
)


def check_rank(rank: int, world_size: int) -> tuple[int, int]:
    """Rank and world size, if they make sense."""
    if not is_whole(world_size, 1) or not is_whole(rank, 0, world_size):
        raise ValueError(f"a rank is 0 to world_size - 1: not rank {rank!r} of {world_size!r}")
    return int(rank), int(world_size)


def find_rank(rank: int | None = None, world_size: int | None = None) -> tuple[int, int]:
    """Rank and world size: the given ones, else what the training framework or the launcher says."""
    if (rank is None) != (world_size is None):
        raise ValueError("rank and world_size go together")
    if rank is not None and world_size is not None:
        return check_rank(rank, world_size)
    return check_rank(*(_of_torch() or _of_jax() or _of_environment() or (0, 1)))


def _of_torch() -> tuple[int, int] | None:
    distributed = sys.modules.get("torch.distributed")
    if distributed is None or not distributed.is_available() or not distributed.is_initialized():
        return None
    return distributed.get_rank(), distributed.get_world_size()


def _of_jax() -> tuple[int, int] | None:
    module = sys.modules.get("jax._src.distributed")
    state = getattr(module, "global_state", None)
    if getattr(state, "client", None) is None:
        return None
    return int(state.process_id), int(state.num_processes)  # type: ignore[union-attr]


def _of_environment() -> tuple[int, int] | None:
    for rank, size in _VARIABLES:
        if rank in os.environ and size in os.environ:
            try:
                return int(os.environ[rank]), int(os.environ[size])
            except ValueError as error:
                raise ValueError(
                    f"{rank}={os.environ[rank]!r} and {size}={os.environ[size]!r} are no whole numbers"
                ) from error
    return None
