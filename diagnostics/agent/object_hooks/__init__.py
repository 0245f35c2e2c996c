"""What the objects of the running program hold, at a few steps: looked at from its frames, never kept, never called."""
