"""Storage backends, which list, read and write local files and objects of remote stores, regardless of their format."""
