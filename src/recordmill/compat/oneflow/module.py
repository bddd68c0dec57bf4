"""``flow.nn.Module``: base class of readers, decoders and transforms."""

from __future__ import annotations

from typing import Any, Self

from recordmill.compat.oneflow.unsupported import check_device


class Module:
    """Base class of objects that are created once and called for each batch."""

    def forward(self, *inputs: Any, **options: Any) -> Any:
        """Compute the result of calling the module; subclasses implement this method."""
        raise NotImplementedError

    def __call__(self, *inputs: Any, **options: Any) -> Any:
        """Call `forward`."""
        return self.forward(*inputs, **options)

    def train(self, mode: bool = True) -> Self:
        """Return the module itself: training and evaluation do not differ."""
        del mode
        return self

    def to(self, device: Any = None, *_: Any, **__: Any) -> Self:
        """Return the module itself; raise NotImplementedError for any device but the CPU."""
        check_device(device)
        return self

    def cuda(self, device: Any = None) -> Self:
        """Raise NotImplementedError, because modules run on the CPU."""
        return self.to("cuda" if device is None else f"cuda:{device}")

    def cpu(self) -> Self:
        """Return the module itself."""
        return self

    eval = cpu
