import torch


class NoiseSchedule:
    def __init__(self, steps):
        betas = torch.linspace(1e-4, 0.03, steps)
        self.alphas = torch.cumprod(1 - betas, 0)
        self.steps = steps

    def corrupt(self, x, t, noise):
        a = self.alphas[t][:, None]
        return a.sqrt() * x + (1 - a).sqrt() * noise
