"""One step on the pixels of one image, as functions of arrays."""
