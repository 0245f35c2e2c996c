"""The reproduction script: planned, written, checked in clean processes, handed over."""
