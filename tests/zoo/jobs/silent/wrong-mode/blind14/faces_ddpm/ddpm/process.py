import torch


class Diffusion:
    def __init__(self, steps=100):
        self.steps = steps
        self.beta = torch.linspace(1e-4, 0.05, steps)
        self.abar = torch.cumprod(1 - self.beta, 0)

    def loss(self, model, x0):
        t = torch.randint(0, self.steps, (len(x0),))
        eps = torch.randn_like(x0)
        a = self.abar[t][:, None, None, None]
        return (model(a.sqrt() * x0 + (1 - a).sqrt() * eps, t) - eps).square().mean()

    @torch.no_grad()
    def sample(self, net, n, size):
        net.eval()
        x = torch.randn(n, 1, size, size)
        for i in reversed(range(0, self.steps, 4)):
            t = torch.full((n,), i)
            a = self.abar[i]
            x0 = ((x - (1 - a).sqrt() * net(x, t)) / a.sqrt()).clamp(-1, 1)
            prev = self.abar[max(i - 4, 0)]
            x = prev.sqrt() * x0 + (1 - prev).sqrt() * torch.randn_like(x) * (i > 0)
        return x
