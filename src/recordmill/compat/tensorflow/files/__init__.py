"""TensorFlow's functions of files."""
