"""Operations on tensors, by family."""
