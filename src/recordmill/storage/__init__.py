"""Storage backends, which list, read and write files. They are independent of record formats. Only local files now."""
