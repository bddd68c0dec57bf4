"""Framings and payload codecs, a folder per format; sees buffers, never files."""
