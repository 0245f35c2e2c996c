import torch


class DDPMScheduler:
    def __init__(self, num_train_timesteps=100):
        betas = torch.linspace(1e-4, 0.08, num_train_timesteps)
        self.num_train_timesteps, self.betas = num_train_timesteps, betas
        self.alphas_cumprod = torch.cumprod(1 - betas, 0)

    def add_noise(self, x, noise, t):
        a = self.alphas_cumprod[t].unsqueeze(1)
        return a.sqrt() * x + (1 - a).sqrt() * noise

    def step(self, eps, t, x, generator):
        a, b = self.alphas_cumprod[t], self.betas[t]
        mean = (x - b / (1 - a).sqrt() * eps) / (1 - b).sqrt()
        return mean if t == 0 else mean + b.sqrt() * torch.randn(x.shape, generator=generator)
