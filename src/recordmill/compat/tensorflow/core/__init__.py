"""Basic modules of the package: dtypes, shapes, tensors, errors and the table of operations."""
