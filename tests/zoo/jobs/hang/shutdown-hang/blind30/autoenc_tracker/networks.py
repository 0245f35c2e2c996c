import torch
import torch.nn as nn


class ConvVAE(nn.Module):
    def __init__(self, latent=16, width=16):
        super().__init__()
        self.enc = nn.Sequential(
            nn.Conv2d(1, width, 4, 2, 1), nn.ReLU(),
            nn.Conv2d(width, 2 * width, 4, 2, 1), nn.ReLU(), nn.Flatten(),
        )
        self.to_latent = nn.Linear(2 * width * 16, 2 * latent)
        self.from_latent = nn.Linear(latent, 2 * width * 16)
        self.dec = nn.Sequential(
            nn.ReLU(), nn.Unflatten(1, (2 * width, 4, 4)),
            nn.ConvTranspose2d(2 * width, width, 4, 2, 1), nn.ReLU(),
            nn.ConvTranspose2d(width, 1, 4, 2, 1),
        )

    def forward(self, x):
        mu, logvar = self.to_latent(self.enc(x)).chunk(2, 1)
        z = mu + torch.randn_like(mu) * (0.5 * logvar).exp()
        return self.dec(self.from_latent(z)), mu, logvar


def elbo(recon, x, mu, logvar, beta):
    rec = ((recon - x) ** 2).flatten(1).sum(1).mean()
    kl = -0.5 * (1 + logvar - mu**2 - logvar.exp()).sum(1).mean()
    return rec + beta * kl, rec.detach(), kl.detach()
