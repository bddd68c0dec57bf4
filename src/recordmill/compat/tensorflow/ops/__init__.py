"""Operations on tensors. `core.dispatch.FAMILIES` lists the modules for each family of operations, such as "array"."""
