"""Adapters for PyTorch, Keras and JAX, one package each. A package is imported when it is first used."""
