import torch
import torch.nn.functional as F
from torch import nn


def sample_vectors(samples, num):
    return samples[torch.randint(0, samples.shape[0], (num,))]


class EuclideanCodebook(nn.Module):
    """Codes follow an exponential average of what is assigned to them; dead ones are replaced."""

    def __init__(self, dim, size, decay=0.9, eps=1e-5, threshold_dead=1.0):
        super().__init__()
        embed = torch.randn(size, dim)
        self.decay, self.eps, self.threshold, self.size = decay, eps, threshold_dead, size
        self.register_buffer("cluster_size", torch.ones(size))
        self.register_buffer("embed", embed)
        self.register_buffer("embed_avg", embed.clone())

    def expire_codes(self, x):
        dead = self.cluster_size < self.threshold
        if dead.any():
            fresh = sample_vectors(x, self.size)
            self.embed.copy_(torch.where(dead[:, None], fresh, self.embed))
            self.embed_avg.copy_(torch.where(dead[:, None], fresh, self.embed_avg))
            self.cluster_size.copy_(torch.where(dead, torch.ones_like(self.cluster_size), self.cluster_size))

    def forward(self, x):
        code = torch.cdist(x, self.embed).argmin(1)
        if self.training:
            with torch.no_grad():
                self.expire_codes(x)
                onehot = F.one_hot(code, self.size).type_as(x)
                self.cluster_size.mul_(self.decay).add_(onehot.sum(0), alpha=1 - self.decay)
                self.embed_avg.mul_(self.decay).add_(onehot.t() @ x, alpha=1 - self.decay)
                n = self.cluster_size.sum()
                smoothed = (self.cluster_size + self.eps) / (n + self.size * self.eps) * n
                self.embed.copy_(self.embed_avg / smoothed.unsqueeze(1))
        return self.embed[code], code
