"""FarmHash fingerprints: stable 64-bit hashes of byte strings, as TensorFlow's fast hash buckets use."""
