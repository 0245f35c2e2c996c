import torch
import torch.nn as nn
import torch.nn.functional as F


class VectorQuantizer(nn.Module):
    def __init__(self, n_e, e_dim, beta):
        super().__init__()
        self.n_e, self.e_dim, self.beta = n_e, e_dim, beta
        self.embedding = nn.Embedding(n_e, e_dim)
        self.embedding.weight.data.uniform_(-1.0 / n_e, 1.0 / n_e)

    def forward(self, z):
        flat = z.reshape(-1, self.e_dim)
        d = torch.cdist(flat, self.embedding.weight)
        indices = d.argmin(1)
        z_q = self.embedding(indices).view(z.shape)
        commit = F.mse_loss(z, z_q.detach())
        codebook = F.mse_loss(z_q, z.detach())
        loss = codebook + self.beta * commit
        usage = torch.bincount(indices, minlength=self.n_e).float()
        probs = usage / usage.sum()
        perplexity = torch.exp(-(probs * (probs + 1e-10).log()).sum())
        return z_q, loss, perplexity, indices.view(z.shape[:-1])
