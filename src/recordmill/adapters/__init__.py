"""Adapters for PyTorch, Keras, JAX and Ray: one package per framework, which is imported on first use."""
