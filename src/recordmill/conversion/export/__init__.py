"""Write the records of shards to files that other programs read."""
