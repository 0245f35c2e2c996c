"""Speaker identification from multi-channel spectrograms (channels, frames, bands)."""
import argparse

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)
CHANNELS, FRAMES, BANDS = 4, 30, 12


def recordings(n, speakers, seed):
    g = torch.Generator().manual_seed(seed)
    gp = torch.Generator().manual_seed(31)
    timbre = torch.randn(speakers, CHANNELS, BANDS, generator=gp)
    rhythm = torch.randint(3, 9, (speakers,), generator=gp)
    y = torch.randint(0, speakers, (n,), generator=g)
    t = torch.arange(FRAMES)
    beat = torch.sin(6.28 * (t / rhythm[y][:, None] + torch.rand(n, 1, generator=g)))
    x = timbre[y][:, :, None, :] * beat[:, None, :, None]
    return TensorDataset(x + 1.5 * torch.randn(n, CHANNELS, FRAMES, BANDS, generator=g), y)


class SpeakerNet(nn.Module):
    def __init__(self, speakers, hidden=48):
        super().__init__()
        self.norm = nn.LayerNorm(CHANNELS * BANDS)
        self.rnn = nn.GRU(CHANNELS * BANDS, hidden, batch_first=True)
        self.fc = nn.Linear(hidden, speakers)

    def forward(self, x):
        n, c, t, f = x.shape
        x = x.view(n, t, c * f)
        h, _ = self.rnn(self.norm(x))
        return self.fc(h.mean(1))


def step(model, batch, opt=None):
    x, y = batch
    out = model(x)
    loss = nn.functional.cross_entropy(out, y)
    if opt is not None:
        opt.zero_grad()
        loss.backward()
        opt.step()
    return loss.item() * len(y), (out.argmax(1) == y).sum().item()


def run(model, loader, opt=None):
    model.train(opt is not None)
    loss = hits = 0
    with torch.set_grad_enabled(opt is not None):
        for batch in loader:
            a, b = step(model, batch, opt)
            loss, hits = loss + a, hits + b
    n = len(loader.dataset)
    return loss / n, hits / n


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--speakers", type=int, default=12)
    ap.add_argument("--epochs", type=int, default=8)
    ap.add_argument("--lr", type=float, default=2e-3)
    args = ap.parse_args()
    torch.manual_seed(0)
    train = DataLoader(recordings(1200, args.speakers, 0), batch_size=40, shuffle=True)
    test = DataLoader(recordings(400, args.speakers, 1), batch_size=100)
    model = SpeakerNet(args.speakers)
    opt = torch.optim.Adam(model.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        tl, ta = run(model, train, opt)
        vl, va = run(model, test)
        print(f"epoch {epoch} train {tl:.4f}/{ta:.3f} test {vl:.4f}/{va:.3f}", flush=True)


if __name__ == "__main__":
    main()
