"""Specs: immutable objects that describe how features become arrays. A spec checks its fields; it does not decode."""
