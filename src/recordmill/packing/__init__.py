"""Turns image files and examples into shards: sources say what is there, `pack` writes it."""
