import argparse
import copy
import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader

from views import TwoViews


def mlp(i, h, o):
    return nn.Sequential(nn.Linear(i, h), nn.BatchNorm1d(h), nn.ReLU(), nn.Linear(h, o))


class Student(nn.Module):
    def __init__(self, dim=32, hidden=128, out=32):
        super().__init__()
        self.encoder = mlp(dim, hidden, hidden)
        self.projector = mlp(hidden, hidden, out)
        self.predictor = mlp(out, hidden, out)

    def project(self, x):
        return self.projector(self.encoder(x))

    def forward(self, x):
        return self.predictor(self.project(x))


class BYOL(nn.Module):
    def __init__(self, total_steps, tau=0.98):
        super().__init__()
        self.student = Student()
        self.teacher = copy.deepcopy(self.student)
        del self.teacher.predictor
        self.teacher.requires_grad_(False)
        self.total, self.tau, self.n = total_steps, tau, 0

    def train(self, mode=True):
        super().train(mode)
        self.teacher.eval()
        return self

    def forward(self, a, b):
        loss = 0.0
        for here, there in ((a, b), (b, a)):
            with torch.no_grad():
                target = F.normalize(self.teacher.project(there), dim=1)
            loss = loss + 2 - 2 * (F.normalize(self.student(here), dim=1) * target).sum(1).mean()
        return loss / 2

    @torch.no_grad()
    def momentum_update(self):
        self.n += 1
        tau = 1 - (1 - self.tau) * (math.cos(math.pi * self.n / self.total) + 1) / 2
        own = dict(self.student.named_parameters())
        for name, p in self.teacher.named_parameters():
            p.lerp_(own[name], 1 - tau)
        stats = dict(self.student.named_buffers())
        for name, b in self.teacher.named_buffers():
            b.copy_(stats[name])


@torch.no_grad()
def nearest_neighbour(encoder, bank, query):
    encoder.eval()
    a, b = F.normalize(encoder(bank.x), dim=1), F.normalize(encoder(query.x), dim=1)
    return (bank.y[(b @ a.T).argmax(1)] == query.y).float().mean().item()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=12)
    ap.add_argument("--batch", type=int, default=128)
    ap.add_argument("--lr", type=float, default=2e-3)
    args = ap.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    train, test = TwoViews(3072, seed=1), TwoViews(512, seed=2)
    loader = DataLoader(train, args.batch, shuffle=True, drop_last=True)
    net = BYOL(args.epochs * len(loader))
    opt = torch.optim.AdamW(net.student.parameters(), args.lr, weight_decay=1e-4)
    print(f"knn before {nearest_neighbour(net.student.encoder, train, test):.3f}")
    for epoch in range(args.epochs):
        net.train()
        total = 0.0
        for a, b in loader:
            loss = net(a, b)
            opt.zero_grad()
            loss.backward()
            opt.step()
            net.momentum_update()
            total += loss.item()
        knn = nearest_neighbour(net.student.encoder, train, test)
        print(f"epoch {epoch:2d} loss {total / len(loader):.4f} knn {knn:.3f}", flush=True)

    state = {k: v for k, v in net.student.state_dict().items() if not k.startswith("predictor.")}
    torch.save(state, "encoder.pt")
    probe = nn.Linear(128, 8)
    encoder = Student()
    missing = encoder.load_state_dict(torch.load("encoder.pt"), strict=False)
    print(f"{len(missing.missing_keys)} keys without a value, all of the predictor:",
          all(k.startswith("predictor.") for k in missing.missing_keys))
    encoder.eval().requires_grad_(False)
    opt = torch.optim.Adam(probe.parameters(), 1e-2)
    with torch.no_grad():
        feats, held = encoder.encoder(train.x), encoder.encoder(test.x)
    for _ in range(60):
        loss = F.cross_entropy(probe(feats), train.y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(f"linear probe {(probe(held).argmax(1) == test.y).float().mean():.3f}")


if __name__ == "__main__":
    main()
