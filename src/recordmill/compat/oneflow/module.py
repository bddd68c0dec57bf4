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
