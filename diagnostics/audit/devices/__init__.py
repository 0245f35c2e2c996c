"""Rules A401 to A420: tensors, files and processes on the wrong device or side of a fork."""
