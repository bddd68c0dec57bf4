"""Batches as JAX arrays on one or several devices, and a data source for Grain: ``recordmill.jax``."""

from recordmill.adapters.jax.arrays import RaggedArray, arrays
from recordmill.adapters.jax.loader import Loader, loader
from recordmill.adapters.jax.source import Source

__all__ = ["Loader", "RaggedArray", "Source", "arrays", "loader"]
