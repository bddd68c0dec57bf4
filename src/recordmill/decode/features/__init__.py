"""Decode the columns of a batch. Each module implements one or two types of specs, such as `Mask`."""
