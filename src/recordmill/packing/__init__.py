"""Pack image files and examples into shards: sources list the files, `pack` writes the records."""
