"""Which sample stands at a position of an epoch: arithmetic on whole numbers, nothing stored."""
