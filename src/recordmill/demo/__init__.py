"""The program behind `recordmill demo`: pack real images, verify them, read them back and train on them."""
