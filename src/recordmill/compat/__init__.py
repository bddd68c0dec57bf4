"""Replacements for modules of TensorFlow, MXNet and OneFlow, with the same names of functions and classes."""
