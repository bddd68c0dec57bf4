"""Aliases of operations."""
