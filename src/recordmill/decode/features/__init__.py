"""One kind of spec, one module: how its column becomes its output."""
