"""Datasets and loaders: from examples to batches. Independent of record formats and training frameworks."""
