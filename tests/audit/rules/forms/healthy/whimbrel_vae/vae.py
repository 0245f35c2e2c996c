import torch
import torch.nn.functional as F
from torch import nn


class VAE(nn.Module):
    def __init__(self, inputs=784, hidden=512, z=32, beta=1.0):
        super().__init__()
        self.beta = beta
        self.enc = nn.Sequential(nn.Linear(inputs, hidden), nn.SiLU(), nn.Linear(hidden, 2 * z))
        self.dec = nn.Sequential(nn.Linear(z, hidden), nn.SiLU(), nn.Linear(hidden, inputs))

    def forward(self, x):
        mu, logvar = self.enc(x).chunk(2, dim=-1)
        z = mu + torch.randn_like(mu) * (0.5 * logvar).exp()
        return self.dec(z), mu, logvar

    def terms(self, x, logits, mu, logvar):
        rec = F.binary_cross_entropy_with_logits(logits, x, reduction="none").sum(-1)
        kl = 0.5 * (mu.pow(2) + logvar.exp() - 1 - logvar).sum(-1)
        return (rec + self.beta * kl).mean()
