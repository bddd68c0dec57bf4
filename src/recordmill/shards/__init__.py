"""Read, write, index and verify shards of any format."""
