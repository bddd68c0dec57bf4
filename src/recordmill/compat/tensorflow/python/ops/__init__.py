"""``tensorflow.python.ops``: aliases of modules of operations."""
