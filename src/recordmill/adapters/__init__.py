"""Adapters for PyTorch, Keras, JAX and Ray, one package per framework. A package is imported when it is first used."""
