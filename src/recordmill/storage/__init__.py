"""Storage backends, which list, read and write files. Currently only local files; independent of formats."""
