"""Alias of dtypes."""
