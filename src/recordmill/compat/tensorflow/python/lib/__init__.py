"""Aliases of files and record files."""
