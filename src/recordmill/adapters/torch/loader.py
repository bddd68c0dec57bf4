"""Batches as tensors in one process, on the device when the training asks for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import recordmill as rm
from recordmill.adapters.handover import Handover, Stated
from recordmill.adapters.torch.tensors import tensors
from recordmill.adapters.torch.transfer import Transfer, transfer_to
from recordmill.adapters.torch.warnings import warn_if_undivided
from recordmill.concurrency.prefetch import Prefetcher


class Loader(Handover):
    """A `recordmill.Loader` that delivers tensors.

    Without a device, tensors share the memory of the batches. With one, a thread of its own keeps one batch in
    transfer and one ready while the caller computes; a state is that of the batch last delivered all the same. Has
    `state_dict` and `load_state_dict` as torchdata's ``StatefulDataLoader`` has them.

    Parameters
    ----------
    loader : recordmill.Loader
    device : torch.device or str, optional
        Where tensors go; they stay in main memory by default.
    pin_memory : bool
        Whether tensors that stay in main memory are page-locked. Needs CUDA and does nothing without it. Transfers to
        a CUDA device always go through page-locked memory.
    """

    def __init__(self, loader: rm.Loader, *, device: Any = None, pin_memory: bool = False) -> None:
        super().__init__(loader)
        self._transfer: Transfer | None = transfer_to(device, pin_memory)

    def _place(self, batches: Iterator[Stated]) -> Iterable[Stated]:
        converted = ((tensors(batch), state) for batch, state in batches)
        return converted if self._transfer is None else self._moved(self._transfer, batches)

    def _moved(self, transfer: Transfer, batches: Iterator[Stated]) -> Iterator[Stated]:
        transfers = Prefetcher(((transfer.send(tensors(batch)), state) for batch, state in batches), depth=1)
        try:
            for sent, state in transfers:
                yield transfer.receive(sent), state
        finally:
            transfers.close()


def loader(dataset: rm.Dataset, *, device: Any = None, pin_memory: bool = False, **options: Any) -> Loader:
    """Iterate over a data set in tensors, in this process.

    Parameters
    ----------
    dataset : recordmill.Dataset
        Of batches, as a rule.
    device : torch.device or str, optional
        Where tensors go; they stay in main memory by default.
    pin_memory : bool
        Whether tensors that stay in main memory are page-locked; does nothing without CUDA.
    **options
        What `recordmill.Dataset.loader` takes: threads, prefetch, rank, world_size, on_error, max_errors.

    Returns
    -------
    Loader

    Raises
    ------
    MissingExtraError
        PyTorch is not installed.
    """
    warn_if_undivided(dataset, options)
    return Loader(dataset.loader(**options), device=device, pin_memory=pin_memory)
