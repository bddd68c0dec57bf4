"""Modules that all others build on: dtypes, shapes, tensors, errors and the table of operations."""
