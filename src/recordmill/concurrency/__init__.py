"""Threads and processes that work ahead of their consumer; knows nothing of records or images."""
