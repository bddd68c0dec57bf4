"""The stages of a pipeline: one module for each public stage."""
