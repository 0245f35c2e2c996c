class GradualUnfreezing:
    """Opens the blocks from the last to the first, each with a smaller rate; the optimizer learns of each when it opens."""

    def __init__(self, model, every):
        self.closed, self.every = list(model.blocks), every
        model.blocks.requires_grad_(False)

    def before_step(self, step, optimizer, base_lr):
        if step and step % self.every == 0 and self.closed:
            block = self.closed.pop()
            block.requires_grad_(True)
            optimizer.add_param_group({"params": list(block.parameters()), "lr": base_lr * 0.5 ** (step // self.every)})
            return True
        return False
