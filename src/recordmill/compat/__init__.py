"""Modules with the names of TensorFlow, MXNet and OneFlow, implemented with recordmill."""
