"""The shard stage: divides a dataset among the processes of a training run."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass

from recordmill.pipeline.checks import is_integer, set_fields

# Environment variables of rank and world size, in this order: torchrun and accelerate, Open MPI, MPICH and Intel MPI,
# Slurm.
_VARIABLES = (
    ("RANK", "WORLD_SIZE"),
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("PMI_RANK", "PMI_SIZE"),
    ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS"),
)


@dataclass(frozen=True, slots=True)
class Shard:
    """Divides a dataset among ranks when a loader is created.

    Parameters
    ----------
    rank, world_size : int, optional
        Pass both or neither. By default, they come from the training framework or the launcher.
    """

    rank: int | None = None
    world_size: int | None = None

    def __post_init__(self) -> None:
        """Raise ValueError if rank and world size are invalid, or only one of them is given."""
        if self.rank is not None or self.world_size is not None:
            rank, world_size = find_rank(self.rank, self.world_size)
            set_fields(self, rank=rank, world_size=world_size)

    def find_rank(self) -> tuple[int, int]:
        """Return rank and world size of this process."""
        return find_rank(self.rank, self.world_size)

    def __repr__(self) -> str:
        """Return the method call that adds this stage to a dataset, as text."""
        return "shard()" if self.rank is None else f"shard({self.rank}, {self.world_size})"


def find_rank(rank: int | None = None, world_size: int | None = None) -> tuple[int, int]:
    """Return rank and world size from the arguments or, by default, from PyTorch, JAX or the launcher."""
    if (rank is None) != (world_size is None):
        raise ValueError("rank and world_size must be passed together")
    if rank is not None and world_size is not None:
        return _check_rank(rank, world_size)
    return _check_rank(*(_read_torch_rank() or _read_jax_rank() or _read_environment_rank() or (0, 1)))


def _check_rank(rank: int, world_size: int) -> tuple[int, int]:
    if not is_integer(world_size, 1) or not is_integer(rank, 0, world_size):
        raise ValueError(f"rank must be an integer from 0 to world_size - 1, got rank {rank!r} of {world_size!r}")
    return int(rank), int(world_size)


def _read_torch_rank() -> tuple[int, int] | None:
    distributed = sys.modules.get("torch.distributed")
    if distributed is None or not distributed.is_available() or not distributed.is_initialized():
        return None
    return distributed.get_rank(), distributed.get_world_size()


def _read_jax_rank() -> tuple[int, int] | None:
    module = sys.modules.get("jax._src.distributed")
    state = getattr(module, "global_state", None)
    if getattr(state, "client", None) is None:
        return None
    return int(state.process_id), int(state.num_processes)  # type: ignore[union-attr]


def _read_environment_rank() -> tuple[int, int] | None:
    for rank, size in _VARIABLES:
        if rank in os.environ and size in os.environ:
            try:
                return int(os.environ[rank]), int(os.environ[size])
            except ValueError as error:
                raise ValueError(
                    f"{rank} and {size} must be integers, got {os.environ[rank]!r} and {os.environ[size]!r}"
                ) from error
    return None
