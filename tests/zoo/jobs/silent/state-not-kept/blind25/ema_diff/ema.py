import torch


class EMAModel:
    """Exponential moving average of a list of parameters, in the style of diffusers."""

    def __init__(self, parameters, decay=0.999):
        self.decay = decay
        self.shadow_params = [p.detach().clone() for p in parameters]
        self.temp_stored_params = None

    @torch.no_grad()
    def step(self, parameters):
        for s, p in zip(self.shadow_params, parameters):
            s.lerp_(p, 1 - self.decay)

    @torch.no_grad()
    def copy_to(self, parameters):
        for s, p in zip(self.shadow_params, parameters):
            p.copy_(s)

    @torch.no_grad()
    def store(self, parameters):
        self.temp_stored_params = [p.detach().clone() for p in parameters]

    @torch.no_grad()
    def restore(self, parameters):
        for c, p in zip(self.temp_stored_params, parameters):
            p.copy_(c)
        self.temp_stored_params = None
