"""Comments that take a violation back, and the two rules about such comments."""
