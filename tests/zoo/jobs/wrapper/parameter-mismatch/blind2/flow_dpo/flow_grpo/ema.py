import torch


class EMAModuleWrapper:

    def __init__(self, parameters, decay=0.99):
        self.parameters = [p for p in parameters if p.requires_grad]
        self.shadow = [p.detach().clone() for p in self.parameters]
        self.decay = decay

    @torch.no_grad()
    def step(self):
        for s, p in zip(self.shadow, self.parameters):
            s.lerp_(p, 1 - self.decay)
