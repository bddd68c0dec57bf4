"""Names of the shards of a dataset, its manifest, and the lock and the journal of its writers."""
