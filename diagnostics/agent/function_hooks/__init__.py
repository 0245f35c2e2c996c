"""Functions of torch.nn.functional that see what they are given: a divergence, dropout outside of training."""
