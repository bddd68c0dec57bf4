"""Foundations of all TensorFlow names: dtypes, shapes, tensors, errors and the table of operations."""
