"""``mx.gluon.Block`` and ``HybridBlock`` as far as transformations of samples need them; networks are not here."""

from __future__ import annotations

from typing import Any

from recordmill.compat.mxnet import nd


class Block:
    """A step with a method ``forward``; to be inherited."""

    def __init__(self, *_: Any, **__: Any) -> None:
        pass

    def __call__(self, *args: Any) -> Any:
        """Return what `forward` makes of the arguments."""
        return self.forward(*args)

    def forward(self, *args: Any) -> Any:
        """To be written in a subclass."""
        raise NotImplementedError

    def hybridize(self, active: bool = True, **_: Any) -> None:
        """Do nothing: there are no graphs."""
        del active

    def initialize(self, *_: Any, **__: Any) -> None:
        """Do nothing: there are no parameters."""


class HybridBlock(Block):
    """A step with a method ``hybrid_forward``, whose first argument is ``mx.nd``; to be inherited."""

    def forward(self, *args: Any) -> Any:
        """Return what `hybrid_forward` makes of the arguments."""
        return self.hybrid_forward(nd, *args)

    def hybrid_forward(self, F: Any, *args: Any) -> Any:  # noqa: N803 (MXNet's)
        """To be written in a subclass."""
        raise NotImplementedError


class Sequential(Block):
    """Steps, one after the other."""

    def __init__(self, *_: Any, **__: Any) -> None:
        super().__init__()
        self._steps: list[Any] = []

    def add(self, *blocks: Any) -> None:
        """Add steps behind the others."""
        self._steps += blocks

    def forward(self, *args: Any) -> Any:
        """Do them."""
        [x] = args
        for step in self._steps:
            x = step(x)
        return x

    def __len__(self) -> int:
        """Return the number of steps."""
        return len(self._steps)

    def __getitem__(self, place: Any) -> Any:
        """Step at a place."""
        return self._steps[place]
