import torch.nn as nn

from quantizer import VectorQuantizer


class ContourEncoder(nn.Module):
    def __init__(self, hidden, e_dim):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv1d(2, hidden, 4, stride=2, padding=1), nn.GELU(),
            nn.Conv1d(hidden, hidden, 4, stride=2, padding=1), nn.GELU(),
            nn.Conv1d(hidden, hidden, 4, stride=2, padding=1), nn.GELU(),
            nn.Conv1d(hidden, e_dim, 1),
        )

    def forward(self, x):
        return self.net(x).transpose(1, 2)


class ContourDecoder(nn.Module):
    def __init__(self, hidden, e_dim):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv1d(e_dim, hidden, 1), nn.GELU(),
            nn.ConvTranspose1d(hidden, hidden, 4, stride=2, padding=1), nn.GELU(),
            nn.ConvTranspose1d(hidden, hidden, 4, stride=2, padding=1), nn.GELU(),
            nn.ConvTranspose1d(hidden, 2, 4, stride=2, padding=1),
        )

    def forward(self, z):
        return self.net(z.transpose(1, 2))


class VQVAE(nn.Module):
    def __init__(self, hidden=48, e_dim=8, n_e=64, beta=0.25):
        super().__init__()
        self.encoder = ContourEncoder(hidden, e_dim)
        self.quantize = VectorQuantizer(n_e, e_dim, beta)
        self.decoder = ContourDecoder(hidden, e_dim)

    def forward(self, x):
        z = self.encoder(x)
        z_q, vq_loss, perplexity, _ = self.quantize(z)
        return self.decoder(z_q), vq_loss, perplexity
