"""Work with existing shards: convert them to other formats, select records, and split datasets."""
