import torch
from torch import nn
from torch.nn import functional as F


class Coder(nn.Module):
    def __init__(self, codes=16, width=8):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, width))
        self.decoder = nn.Sequential(nn.Linear(width, 32), nn.ReLU(), nn.Linear(32, 12))
        self.register_buffer("codes", torch.randn(codes, width))

    def forward(self, x):
        z = self.encoder(x)
        nearest = self.codes[torch.cdist(z, self.codes).argmin(1)]
        commitment = F.mse_loss(z, nearest.detach())
        return self.decoder(z + (nearest - z).detach()), commitment


def main():
    torch.manual_seed(4)
    basis = torch.randn(3, 12)
    model = Coder()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for step in range(60):
        x = torch.randn(32, 3) @ basis
        rebuilt, commitment = model(x)
        reconstruction = F.mse_loss(rebuilt, x)
        loss = reconstruction + 0.25 * commitment.item()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 20 == 19:
            print(f"step {step} loss {loss.item():.3f} commitment {commitment.item():.3f}", flush=True)


if __name__ == "__main__":
    main()
