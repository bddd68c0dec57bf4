"""One module per kind of spec: how a column becomes an output."""
