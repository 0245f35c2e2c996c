import torch.nn.functional as F
from torch import nn

from core_vq import EuclideanCodebook


class Codec(nn.Module):
    def __init__(self, samples=32, dim=8, codes=24):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(samples, 48), nn.ELU(), nn.Linear(48, dim))
        self.quantizer = EuclideanCodebook(dim, codes)
        self.decoder = nn.Sequential(nn.Linear(dim, 48), nn.ELU(), nn.Linear(48, samples))

    def forward(self, wave):
        z = self.encoder(wave)
        q, code = self.quantizer(z.detach())
        commitment = F.mse_loss(z, q)
        q = z + (q - z).detach()
        return self.decoder(q), commitment, code
