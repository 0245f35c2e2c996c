import torch


class NoiseSource:
    """Timesteps and Gaussian noise from an own generator, apart from the global one."""

    def __init__(self, seed, device, steps=1000):
        self.generator = torch.Generator(device=device).manual_seed(seed)
        self.device = device
        self.steps = steps

    def timesteps(self, n):
        return torch.randint(0, self.steps, (n,), device=self.device, generator=self.generator)

    def like(self, x):
        return torch.randn(x.shape, device=self.device, dtype=x.dtype, generator=self.generator)
