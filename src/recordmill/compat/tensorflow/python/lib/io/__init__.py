"""``tensorflow.python.lib.io``: aliases of modules for files and record files."""
