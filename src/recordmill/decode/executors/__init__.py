"""Who carries a plan out; every executor gives the same pixels, and all else is decided before."""
