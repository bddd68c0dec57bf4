"""Files by TensorFlow's names."""
