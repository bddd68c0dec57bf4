"""``tensorflow.python.platform``: aliases of modules for files and flags."""
