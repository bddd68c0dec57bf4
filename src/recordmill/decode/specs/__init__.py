"""Specs: immutable values that describe how features become arrays. They check their fields and do nothing else."""
