import argparse

import torch
import torch.nn.functional as F
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from metrics import embed, recall_at


def views(n, dim, seed):
    g = torch.Generator().manual_seed(seed)
    base = torch.randn(n, dim, generator=g)
    return base, base + 0.1 * torch.randn(n, dim, generator=g)


def info_nce(a, b, t=0.1):
    logits = F.normalize(a, dim=1) @ F.normalize(b, dim=1).T / t
    return F.cross_entropy(logits, torch.arange(len(a)))


def evaluate(acc, model, args):
    """Full catalogue against itself, on the main process."""
    if acc.is_main_process:
        query, gallery = views(args.catalogue, args.dim, 99)
        encoder = acc.unwrap_model(model)
        score = recall_at(embed(encoder, query), embed(encoder, gallery), torch.arange(args.catalogue))
        acc.print(f"recall@5 {score:.3f}")
    acc.wait_for_everyone()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--dim", type=int, default=32)
    p.add_argument("--catalogue", type=int, default=80000)
    p.add_argument("--epochs", type=int, default=2)
    args = p.parse_args()
    acc = Accelerator(cpu=True)
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(args.dim, 256), nn.ReLU(), nn.Linear(256, 128))
    opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    loader = DataLoader(TensorDataset(*views(8000, args.dim, 1)), batch_size=128, shuffle=True)
    model, opt, loader = acc.prepare(model, opt, loader)
    for epoch in range(args.epochs):
        for a, b in loader:
            both = model(torch.cat([a, b]))
            loss = info_nce(*both.chunk(2))
            opt.zero_grad()
            acc.backward(loss)
            opt.step()
        acc.print(f"epoch {epoch} loss {loss.item():.3f}")
        evaluate(acc, model, args)
    acc.end_training()


if __name__ == "__main__":
    main()
