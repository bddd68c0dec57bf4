"""The demonstration behind `recordmill demo`: real images packed, checked, read back and trained from."""
