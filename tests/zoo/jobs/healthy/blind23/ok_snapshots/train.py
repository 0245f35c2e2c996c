"""Snapshot ensembles (Huang et al. 2017): the rate comes down and jumps up again; the net at the end of each cycle votes."""
import copy

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

CYCLES, EPOCHS_PER_CYCLE, LR = 4, 5, 0.1


def spirals(n, seed):
    g = torch.Generator().manual_seed(seed)
    y = torch.randint(3, (n,), generator=g)
    r = torch.rand(n, generator=g)
    a = 4.5 * r + 2.094 * y + 0.2 * torch.randn(n, generator=g)
    return torch.stack([r * torch.sin(a), r * torch.cos(a)], 1), y


def main():
    torch.manual_seed(0)
    x, y = spirals(1600, 0)
    xt, yt = spirals(1000, 1)
    loader = DataLoader(TensorDataset(x, y), 32, shuffle=True)
    model = nn.Sequential(nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 3))
    opt = torch.optim.SGD(model.parameters(), LR, momentum=0.9)
    period = EPOCHS_PER_CYCLE * len(loader)
    sched = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(opt, T_0=period)
    snapshots = []
    for epoch in range(CYCLES * EPOCHS_PER_CYCLE):
        for a, b in loader:
            loss = F.cross_entropy(model(a), b)
            opt.zero_grad()
            loss.backward()
            opt.step()
            sched.step()
        if (epoch + 1) % EPOCHS_PER_CYCLE == 0:
            snapshots.append(copy.deepcopy(model).eval())
            with torch.no_grad():
                votes = torch.stack([s(xt).softmax(1) for s in snapshots]).mean(0)
                alone = (snapshots[-1](xt).argmax(1) == yt).float().mean()
                both = (votes.argmax(1) == yt).float().mean()
            print(f"snapshot {len(snapshots)} alone {alone:.3f} ensemble {both:.3f}", flush=True)


if __name__ == "__main__":
    main()
