"""Crews: workers that make numbered elements ahead of one consumer; they do not know what an element is."""
