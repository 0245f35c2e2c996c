"""Rules A4xx: tensors, files and processes on the wrong device or side of a fork."""
