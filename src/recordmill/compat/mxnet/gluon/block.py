"""``mx.gluon.Block`` and ``HybridBlock`` as base classes of transforms; there are no parameters and graphs."""

from __future__ import annotations

from typing import Any

from recordmill.compat.mxnet import nd


class Block:
    """Callable that implements `forward`."""

    def __init__(self, *_: Any, **__: Any) -> None:
        pass

    def __call__(self, *args: Any) -> Any:
        return self.forward(*args)

    def forward(self, *args: Any) -> Any:
        """Return the result; to be implemented."""
        raise NotImplementedError

    def hybridize(self, active: bool = True, **_: Any) -> None:
        """Do nothing."""
        del active

    def initialize(self, *_: Any, **__: Any) -> None:
        """Do nothing."""


class HybridBlock(Block):
    """Callable that implements `hybrid_forward`, whose first argument is ``mx.nd``."""

    def forward(self, *args: Any) -> Any:
        """Call `hybrid_forward`."""
        return self.hybrid_forward(nd, *args)

    def hybrid_forward(self, F: Any, *args: Any) -> Any:  # noqa: N803 (MXNet's)
        """Return the result; to be implemented."""
        raise NotImplementedError
