"""Pack, convert, verify and read shards on a Ray cluster: ``recordmill.ray``."""

from recordmill.adapters.ray.convert import convert
from recordmill.adapters.ray.pack import pack
from recordmill.adapters.ray.read import read
from recordmill.adapters.ray.verify import verify

__all__ = ["convert", "pack", "read", "verify"]
