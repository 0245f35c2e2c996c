"""Healthy architectures of 10 to 200 modules, tiny in width, in which faults are planted."""
