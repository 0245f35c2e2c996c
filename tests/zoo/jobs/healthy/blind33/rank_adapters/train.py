"""Adapters of low rank on a frozen scorer, in mixed precision."""
import argparse
import contextlib

import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class Adapted(nn.Module):
    def __init__(self, base, rank=8):
        super().__init__()
        self.base = base.requires_grad_(False)
        self.a = nn.Parameter(torch.randn(rank, base.in_features) * 0.1)
        self.b = nn.Parameter(torch.zeros(base.out_features, rank))

    def forward(self, x):
        return self.base(x) + x @ self.a.T @ self.b.T


class Scorer(nn.Module):
    def __init__(self, words=80, dim=48):
        super().__init__()
        self.table = nn.EmbeddingBag(words, dim, mode="mean").requires_grad_(False)
        self.up, self.down = Adapted(nn.Linear(dim, 96)), Adapted(nn.Linear(96, dim))
        self.out = nn.Linear(dim, 1)

    def forward(self, ids):
        h = self.table(ids)
        return self.out(h + self.down(F.gelu(self.up(h)))).squeeze(1)


def reviews(n, seed):
    g = torch.Generator().manual_seed(seed)
    ids = torch.randint(0, 80, (n, 8), generator=g)
    value = torch.randn(80, generator=torch.Generator().manual_seed(0))
    return TensorDataset(ids, (value[ids].sum(1) > 0).float())


@contextlib.contextmanager
def inference(model):
    flags = [(p, p.requires_grad) for p in model.parameters()]
    was_training = model.training
    model.eval().requires_grad_(False)
    try:
        yield
    finally:
        model.train(was_training)
        for p, flag in flags:
            p.requires_grad_(flag)


def export(model, path):
    with inference(model):
        merged = {n: m.base.weight + m.b @ m.a for n, m in model.named_modules() if isinstance(m, Adapted)}
        torch.save(merged, path)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=6)
    p.add_argument("--lr", type=float, default=5e-3)
    p.add_argument("--export-every", type=int, default=40)
    args = p.parse_args()
    torch.manual_seed(0)
    model = Scorer()
    params = [q for q in model.parameters() if q.requires_grad]
    loader = DataLoader(reviews(4000, 1), 64, shuffle=True, drop_last=True)
    dev = reviews(1000, 2)
    optimizer = torch.optim.AdamW(params, lr=args.lr)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, args.lr, total_steps=args.epochs * len(loader) + 1)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**12, growth_interval=100)
    step = 0
    for epoch in range(args.epochs):
        model.train()
        total = 0.0
        for ids, y in loader:
            optimizer.zero_grad()
            with torch.autocast("cpu", dtype=torch.bfloat16):
                loss = F.binary_cross_entropy_with_logits(model(ids).float(), y)
            scaler.scale(loss).backward()
            scaler.unscale_(optimizer)
            nn.utils.clip_grad_norm_(params, 1.0)
            before = scaler.get_scale()
            scaler.step(optimizer)
            scaler.update()
            if scaler.get_scale() >= before:
                scheduler.step()
            total += loss.item()
            step += 1
            if step % args.export_every == 0:
                export(model, "merged.pt")
        with inference(model):
            hits = sum(((model(i) > 0) == (y > 0.5)).sum().item() for i, y in DataLoader(dev, 250))
        print(f"epoch {epoch} loss {total / len(loader):.4f} dev acc {hits / len(dev):.3f}", flush=True)
    export(model, "merged.pt")


if __name__ == "__main__":
    main()
