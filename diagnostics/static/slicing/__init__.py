"""What a class or function needs to stand alone: the slice that a reproduction script holds."""
