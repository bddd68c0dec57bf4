"""FarmHash fingerprints: stable 64-bit hashes of byte strings. TensorFlow's ``to_hash_bucket_fast`` uses them."""
