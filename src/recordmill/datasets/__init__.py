"""What belongs to a dataset as a whole: the names of its shards, its manifest, and the lock and journal of writers."""
