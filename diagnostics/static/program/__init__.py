"""The model of a Python program: syntax, control flow, calls, names, classes, exceptions."""
