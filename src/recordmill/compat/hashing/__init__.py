"""FarmHash fingerprints: 64-bit hashes of byte strings that never change, as TensorFlow's fast hash buckets use."""
