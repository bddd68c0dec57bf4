"""Graphs, sessions and queues of TensorFlow 1, for programs that read and prepare data."""
