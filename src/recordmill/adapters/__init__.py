"""Adapters for PyTorch, Keras and JAX: one package each, imported when it is first used."""
