"""Storage backends: list, read and write local files and remote objects of any format."""
