"""Specs: immutable values that describe how features become arrays. A spec only checks its fields."""
