"""tf's operations on the tensors of Keras's backend."""
def register_operations(): pass
