"""Base of the TensorFlow names: dtypes, shapes, tensors, the table of operations, errors."""
