"""TensorFlow 1 graphs, sessions and queues, as far as programs read and prepare data with them."""
