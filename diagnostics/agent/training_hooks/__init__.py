"""How this process trains from step to step: what becomes of gradients, modes, learning rates, losses and states."""
