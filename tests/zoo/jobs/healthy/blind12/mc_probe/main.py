"""Linear probing first, then fine-tuning with small rates; uncertainty by Monte-Carlo dropout."""
import copy

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

PROBE_EPOCHS, TUNE_EPOCHS, MC_SAMPLES = 3, 4, 8


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(18, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Linear(64, 32), nn.ReLU())

    def forward(self, x):
        return self.net(x)


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(32, 32), nn.Linear(32, 4)

    def forward(self, x, p=0.2, sample=False):
        return self.b(F.dropout(F.relu(self.a(x)), p, training=self.training or sample))


def blobs(n, seed):
    g = torch.Generator().manual_seed(0)
    centres = 1.1 * torch.randn(4, 18, generator=g)
    g.manual_seed(seed)
    y = torch.randint(0, 4, (n,), generator=g)
    return TensorDataset(centres[y] + torch.randn(n, 18, generator=g), y)


def pretrain(encoder):
    decoder = nn.Linear(32, 18)
    opt = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], 2e-3)
    for x, _ in DataLoader(blobs(1600, 3), 32, shuffle=True):
        loss = F.mse_loss(decoder(encoder(x)), x)
        opt.zero_grad()
        loss.backward()
        opt.step()


@torch.no_grad()
def predictive(encoder, head, loader):
    was = encoder.training
    encoder.eval()
    head.eval()
    hit = n = 0
    spread = 0.0
    for x, y in loader:
        z = encoder(x)
        p = torch.stack([head(z, sample=True).softmax(1) for _ in range(MC_SAMPLES)])
        hit += (p.mean(0).argmax(1) == y).sum().item()
        spread += p.std(0).sum().item()
        n += len(y)
    encoder.train(was)
    head.train()
    return hit / n, spread / n


def main():
    torch.manual_seed(8)
    encoder, head = Encoder(), Head()
    pretrain(encoder)
    train, val = DataLoader(blobs(1280, 1), 32, shuffle=True), DataLoader(blobs(320, 2), 64)
    opt = torch.optim.AdamW([{"params": encoder.parameters(), "lr": 0.0}, {"params": head.parameters(), "lr": 2e-3}])
    best, kept = 0.0, None
    for epoch in range(PROBE_EPOCHS + TUNE_EPOCHS):
        tuning = epoch >= PROBE_EPOCHS
        encoder.eval()
        if tuning:
            opt.param_groups[0]["lr"] = 2e-4
        for x, y in train:
            loss = F.cross_entropy(head(encoder(x)), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
        acc, spread = predictive(encoder, head, val)
        if acc > best:
            best, kept = acc, copy.deepcopy((encoder.state_dict(), head.state_dict()))
        print(f"epoch {epoch} {'tune' if tuning else 'probe'} loss {loss.item():.4f} acc {acc:.3f} spread {spread:.3f}")
    encoder.load_state_dict(kept[0])
    head.load_state_dict(kept[1])
    print("kept", best)


if __name__ == "__main__":
    main()
