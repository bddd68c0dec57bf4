"""What all TensorFlow names build on: dtypes, shapes, tensors, the table of operations and errors."""
