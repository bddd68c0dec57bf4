"""The names of frameworks that people left, over our own library."""
