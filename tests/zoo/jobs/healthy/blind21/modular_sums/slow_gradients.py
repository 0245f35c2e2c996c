import torch


class SlowGradients:
    """Leaky memory of gradients, kept in `.grad` itself: no second copy of the model is needed.

    Before a backward, what is there is scaled by `memory`; the backward adds to it. The sum goes to the step,
    scaled to the length of a mean.
    """

    def __init__(self, parameters, memory):
        self.parameters = [p for p in parameters if p.requires_grad]
        self.memory = memory

    @torch.no_grad()
    def fade(self):
        for p in self.parameters:
            if p.grad is not None:
                p.grad.mul_(self.memory)

    @property
    def gain(self):
        return 1.0 - self.memory
