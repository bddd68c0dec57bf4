"""``tensorflow.python.lib``: aliases of modules for files and record files."""
