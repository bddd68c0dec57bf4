"""Tensors on their way to a device, in two steps: sent by a thread ahead, received by the one that computes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from recordmill.adapters.frameworks import extra


class Transfer:
    """Moves tensors to a device, or into page-locked memory; complete when `send` returns.

    Parameters
    ----------
    move : callable
        What becomes of a tensor.
    """

    def __init__(self, move: Callable[[Any], Any]) -> None:
        self._move = move

    def send(self, batch: Any) -> Any:
        """Start to move the tensors of a batch.

        Parameters
        ----------
        batch : nested tensors

        Returns
        -------
        object
            For `receive`.
        """
        return _mapped(batch, self._move)

    def receive(self, sent: Any) -> Any:
        """Give a batch to the caller.

        Parameters
        ----------
        sent : object
            From `send`.

        Returns
        -------
        nested tensors
        """
        return sent


class CudaTransfer(Transfer):
    """Moves tensors through page-locked memory on a CUDA stream of its own, while others compute.

    What computes waits on the device for the copy, not on the host; memory is not used again before the stream that it
    was handed to is done with it.

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

    def send(self, batch: Any) -> Any:
        """Start the copies, and mark their end on the stream."""
        with self._cuda.stream(self._stream):
            moved = super().send(batch)
            return moved, self._stream.record_event()

    def receive(self, sent: Any) -> Any:
        """Let the caller's stream wait for the copies, and keep their memory for it."""
        moved, copied = sent
        current = self._cuda.current_stream(self._device)
        current.wait_event(copied)
        _mapped(moved, lambda tensor: tensor.record_stream(current))
        return moved


def transfer_to(device: Any, pin_memory: bool) -> Transfer | None:
    """How tensors get to where they are wanted.

    Parameters
    ----------
    device : torch.device, str or None
    pin_memory : bool

    Returns
    -------
    Transfer or None
        None where they are there already.

    Raises
    ------
    MissingExtraError
        PyTorch is not installed.
    ValueError
        PyTorch finds no CUDA device.
    """
    with extra("torch"):
        import torch
    target = torch.device("cpu" if device is None else device)
    if target.type == "cuda":
        if not torch.cuda.is_available():
            raise ValueError(f"device={str(target)!r}, but torch.cuda.is_available() is False: leave device= out")
        return CudaTransfer(target)
    if target.type != "cpu":
        return Transfer(lambda tensor: tensor.to(target))
    if pin_memory and torch.cuda.is_available():
        return Transfer(lambda tensor: tensor.pin_memory())
    return None


def _mapped(value: Any, change: Callable[[Any], Any]) -> Any:
    import torch

    if isinstance(value, torch.Tensor):
        return change(value)
    if isinstance(value, dict):
        return {key: _mapped(inner, change) for key, inner in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(_mapped(inner, change) for inner in value))
    if isinstance(value, list | tuple):
        return type(value)(_mapped(inner, change) for inner in value)
    return value
