"""Abstract interpretation of autograd: saved tensors, views, in-place writes, grad mode."""
