"""Framings and payload codecs, one folder per format. They work on buffers and never access files."""
