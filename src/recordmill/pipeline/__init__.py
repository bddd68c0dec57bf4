"""Datasets and loaders, which turn examples into batches. They do not depend on record formats or frameworks."""
