"""OneFlow's older function that throws coins."""

from __future__ import annotations

from recordmill.compat.oneflow import normalize
from recordmill.compat.oneflow.absent import absent
from recordmill.compat.oneflow.module import module_at_call_site
from recordmill.compat.oneflow.tensors import Tensor

__getattr__ = absent("flow.random")


def CoinFlip(batch_size: int = 1, seed: int | None = None, probability: float = 0.5, name: str | None = None) -> Tensor:
    """Next throws at this place in the program; options as in `nn.CoinFlip`."""
    del name
    options = {"batch_size": batch_size, "random_seed": seed, "probability": probability}
    return module_at_call_site(normalize.CoinFlip, **options)()  # type: ignore[no-any-return]
