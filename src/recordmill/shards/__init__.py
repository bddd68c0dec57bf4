"""Shards: read, written, indexed, verified; blind to which format they are of."""
