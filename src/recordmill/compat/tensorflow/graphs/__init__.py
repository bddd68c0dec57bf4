"""TensorFlow 1's graphs and sessions, as far as programs read and prepare data with them."""
