"""Processes as /proc, pidfds, py-spy and gdb tell of them."""
