"""Storage backends, which list, read and write files of any format. Currently, only local files are supported."""
