"""Pickle opcodes as data: nothing is ever unpickled."""
