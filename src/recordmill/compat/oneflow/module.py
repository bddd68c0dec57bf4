"""What OneFlow's modules have in common as far as readers and decoders need it."""

from __future__ import annotations

from typing import Any, Self


class Module:
    """Something that is made once and called for each batch."""

    def forward(self, *inputs: Any, **options: Any) -> Any:
        """Do the work of one call."""
        raise NotImplementedError

    def __call__(self, *inputs: Any, **options: Any) -> Any:
        """Call `forward`."""
        return self.forward(*inputs, **options)

    def train(self, mode: bool = True) -> Self:
        """Return the module itself: it does the same in training and evaluation."""
        del mode
        return self

    def eval(self) -> Self:
        """Return the module itself: it does the same in training and evaluation."""
        return self

    def to(self, device: Any = None, *_: Any, **__: Any) -> Self:
        """Return the module itself; NotImplementedError for another device than the processor."""
        if device is not None and str(device).partition(":")[0] != "cpu":
            raise NotImplementedError(
                f"device {device!r} is not supported: records are read on the processor; hand the arrays to your "
                "framework"
            )
        return self

    def cuda(self, device: Any = None) -> Self:
        """Refuse: records are read on the processor."""
        return self.to("cuda" if device is None else f"cuda:{device}")

    def cpu(self) -> Self:
        """Return the module itself."""
        return self
