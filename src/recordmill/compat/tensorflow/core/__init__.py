"""What every part of the TensorFlow names stands on: dtypes, shapes, tensors, the table of operations, errors."""
