"""Denoising autoencoder with an online linear probe: the probe reads detached features and teaches the encoder nothing."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


def main():
    torch.manual_seed(0)
    centres = torch.randn(5, 32)
    y = torch.randint(5, (2000,))
    x = centres[y] + 0.7 * torch.randn(2000, 32)
    loader = DataLoader(TensorDataset(x[:1500], y[:1500]), 50, shuffle=True)
    encoder = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 8))
    decoder, probe = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 32)), nn.Linear(8, 5)
    opt = torch.optim.Adam([*encoder.parameters(), *decoder.parameters(), *probe.parameters()], 2e-3)
    for epoch in range(15):
        for a, b in loader:
            z = encoder(a + 0.3 * torch.randn_like(a))
            loss = F.mse_loss(decoder(z), a) + F.cross_entropy(probe(z.detach()), b)
            opt.zero_grad()
            loss.backward()
            opt.step()
        if epoch % 5 == 4:
            with torch.no_grad():
                acc = (probe(encoder(x[1500:])).argmax(1) == y[1500:]).float().mean()
            print(f"epoch {epoch} loss {loss.item():.4f} probe {acc:.3f}", flush=True)


if __name__ == "__main__":
    main()
