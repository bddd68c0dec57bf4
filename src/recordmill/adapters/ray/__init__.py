"""Pack, convert, verify and read shards on a Ray cluster: ``recordmill.ray``."""

from recordmill.adapters.ray.conversion import convert
from recordmill.adapters.ray.datasource import read
from recordmill.adapters.ray.packing import pack
from recordmill.adapters.ray.verification import verify

__all__ = ["convert", "pack", "read", "verify"]
