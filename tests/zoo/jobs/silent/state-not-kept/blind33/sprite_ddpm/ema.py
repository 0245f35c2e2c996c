import copy

import torch


class EMAModel:
    """Exponential moving average of a model's weights, with a ramp at the start."""

    def __init__(self, model, decay=0.995, device="cpu"):
        self.averaged_model = copy.deepcopy(model).eval().requires_grad_(False).to(device)
        self.decay = decay
        self.optimization_step = 0

    def get_decay(self, optimization_step):
        value = (1 + optimization_step) / (10 + optimization_step)
        return 1 - min(self.decay, value)

    @torch.no_grad()
    def step(self, model):
        self.optimization_step += 1
        self.decay = self.get_decay(self.optimization_step)
        for avg, param in zip(self.averaged_model.parameters(), model.parameters()):
            avg.sub_(self.decay * (avg - param))
        for avg, buf in zip(self.averaged_model.buffers(), model.buffers()):
            avg.copy_(buf)

    def state_dict(self):
        return {"model": self.averaged_model.state_dict(), "step": self.optimization_step}
