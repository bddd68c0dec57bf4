"""A loader that returns tensors, and copies the next batch to a device while the caller computes."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import recordmill as rm
from recordmill.adapters.common import require_extra
from recordmill.adapters.loader import BatchAndState, FrameworkLoader
from recordmill.adapters.torch.tensors import map_leaves, tensors
from recordmill.concurrency.prefetch import Prefetcher
from recordmill.suggestions import suggest_arguments


@suggest_arguments
def loader(dataset: rm.Dataset, *, device: Any = None, pin_memory: bool = False, **options: Any) -> Loader:
    """Return a loader that iterates over a dataset in this process and returns tensors.

    Parameters
    ----------
    dataset : recordmill.Dataset
        Usually a dataset of batches.
    device : torch.device or str, optional
        Device to which tensors are moved; by default they stay in host memory.
    pin_memory : bool, default False
        If True, tensors that stay in host memory are page-locked. Has no effect without CUDA.
    **options
        Options of `recordmill.Dataset.loader`: threads, prefetch, rank, world_size, on_error, max_errors.

    Returns
    -------
    Loader

    Raises
    ------
    MissingExtraError
        If PyTorch is not installed.
    ValueError
        If `device` is a CUDA device and CUDA is not available.
    """
    warn_if_not_sharded(dataset, options)
    return Loader(dataset.loader(**options), device=device, pin_memory=pin_memory)


class Loader(FrameworkLoader):
    """A `recordmill.Loader` that returns tensors.

    Without a device, tensors share the memory of the batches. With a device, a background thread transfers the next
    batch while the caller computes; `state_dict` still returns the state after the last batch that the caller
    received. Implements the protocol ``torchdata.stateful_dataloader.Stateful``.

    Parameters
    ----------
    loader : recordmill.Loader
        Source of the batches; closed with this object.
    device : torch.device or str, optional
        Device to which tensors are moved; by default they stay in host memory.
    pin_memory : bool, default False
        If True, tensors that stay in host memory are page-locked. Has no effect without CUDA. Transfers to a CUDA
        device always use page-locked memory.

    Raises
    ------
    MissingExtraError
        If PyTorch is not installed.
    ValueError
        If `device` is a CUDA device and CUDA is not available.
    """

    def __init__(self, loader: rm.Loader, *, device: Any = None, pin_memory: bool = False) -> None:
        super().__init__(loader)
        self._transfer = create_transfer(device, pin_memory)

    def _convert_batches(self, batches: Iterator[BatchAndState]) -> Iterable[BatchAndState]:
        converted = ((tensors(batch), state) for batch, state in batches)
        return converted if self._transfer is None else _prefetch_transfers(self._transfer, converted)


def _prefetch_transfers(transfer: Transfer, batches: Iterator[BatchAndState]) -> Iterator[BatchAndState]:
    started = Prefetcher(((transfer.start(batch), state) for batch, state in batches), depth=1)
    try:
        for batch, state in started:
            yield transfer.finish(batch), state
    finally:
        started.close()


class Transfer:
    """Moves the tensors of a batch to a device or into page-locked memory; `start` returns after the move.

    Parameters
    ----------
    move : callable
        Function from a tensor to a tensor.
    """

    def __init__(self, move: Callable[[Any], Any]) -> None:
        self._move = move

    def start(self, batch: Any) -> Any:
        """Move the tensors of a batch. Pass the result to `finish`. Any thread may call this method."""
        return map_leaves(lambda value: self._move(value) if _is_tensor(value) else value, batch)

    def finish(self, started: Any) -> Any:
        """Return the transferred batch. Call this method in the thread that uses the batch."""
        return started


class CudaTransfer(Transfer):
    """Copies tensors through page-locked memory to a GPU, on a separate CUDA stream.

    The caller's stream waits for the copy on the device, so that the host never waits.

    Parameters
    ----------
    device : torch.device
    """

    def __init__(self, device: Any) -> None:
        import torch

        self._cuda = torch.cuda
        self._device = device
        self._stream: Any = torch.cuda.Stream(device)
        super().__init__(lambda tensor: tensor.pin_memory().to(device, non_blocking=True))

    def start(self, batch: Any) -> Any:
        """Start the copies, and record a CUDA event that completes after them."""
        with self._cuda.stream(self._stream):
            return super().start(batch), self._stream.record_event()

    def finish(self, started: Any) -> Any:
        """Make the caller's stream wait for the copies."""
        batch, event = started
        current = self._cuda.current_stream(self._device)
        current.wait_event(event)
        # `record_stream` makes PyTorch's allocator wait for the caller's stream before it reuses the memory.
        map_leaves(lambda value: value.record_stream(current) if _is_tensor(value) else None, batch)
        return batch


def create_transfer(device: Any, pin_memory: bool) -> Transfer | None:
    """Return the `Transfer` to a device, or None if tensors stay where they are."""
    with require_extra("torch"):
        import torch
    target = torch.device("cpu" if device is None else device)
    if target.type == "cuda":
        if not torch.cuda.is_available():
            raise ValueError(
                f"device={str(target)!r} requires CUDA, but torch.cuda.is_available() is False; omit device="
            )
        return CudaTransfer(target)
    if target.type != "cpu":
        return Transfer(lambda tensor: tensor.to(target))
    if pin_memory and torch.cuda.is_available():
        return Transfer(lambda tensor: tensor.pin_memory())
    return None


def _is_tensor(value: Any) -> bool:
    import torch

    return isinstance(value, torch.Tensor)


def warn_if_not_sharded(dataset: rm.Dataset, options: dict[str, Any]) -> None:
    """Warn if ``torch.distributed`` has several ranks and each of them would load all data."""
    distributed = sys.modules.get("torch.distributed")
    if dataset.is_sharded or options.get("rank") is not None or distributed is None or not distributed.is_available():
        return
    if distributed.is_initialized() and distributed.get_world_size() > 1:
        warnings.warn(
            f"each of the {distributed.get_world_size()} ranks of torch.distributed loads all batches: add shard() to "
            "the pipeline to divide them among the ranks, or pass rank=0, world_size=1 if this is intended",
            stacklevel=4,  # skip this function, the caller, and the decorator of the caller
        )
