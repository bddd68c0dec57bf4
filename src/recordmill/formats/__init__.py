"""Framings and payload codecs, one folder per format; they work on buffers, never on files."""
