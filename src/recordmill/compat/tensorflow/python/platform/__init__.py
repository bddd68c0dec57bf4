"""Aliases of files and flags."""
