"""Pack image files and examples into shards. A source object lists the files; `pack` writes their records."""
