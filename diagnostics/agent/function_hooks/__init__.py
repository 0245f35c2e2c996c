"""Functions of torch's that see what they are given: a divergence, dropout outside of training, seeds, lengths."""
