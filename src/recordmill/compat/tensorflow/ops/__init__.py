"""Operations on tensors; each module implements one or more families of `core.dispatch.FAMILIES`."""
