"""Replacements for modules of TensorFlow, MXNet and OneFlow. Functions and classes keep their original names."""
