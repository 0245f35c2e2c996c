import argparse
import logging
import math

import torch
from torch import nn

from accel import Accel
from pairs import SentencePairs
from schedules import linear_with_warmup

log = logging.getLogger("glue")


class PairNet(nn.Module):
    def __init__(self, vocab, dim):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.ff = nn.Sequential(nn.Linear(3 * dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, 2))

    def forward(self, a, b):
        u, v = self.emb(a).mean(1), self.emb(b).mean(1)
        return self.ff(torch.cat([u, v, u * v], -1))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--pairs", type=int, default=6400)
    p.add_argument("--batch", type=int, default=32)
    p.add_argument("--epochs", type=int, default=5)
    p.add_argument("--lr", type=float, default=2e-3)
    p.add_argument("--warmup-ratio", type=float, default=0.06)
    args = p.parse_args()
    logging.basicConfig(level=logging.INFO)
    accel = Accel()
    torch.manual_seed(0)
    loader = accel.prepare_loader(SentencePairs(args.pairs, 400, 20), args.batch)
    total = len(loader) * args.epochs
    model = PairNet(400, 64)
    opt = torch.optim.AdamW(model.parameters(), lr=args.lr)
    sched = linear_with_warmup(opt, math.ceil(total * args.warmup_ratio), total)
    model, opt, sched = accel.prepare(model, opt, sched)
    for epoch in range(args.epochs):
        accel.sampler.set_epoch(epoch)
        hits = n = 0
        for a, b, y in loader:
            logits = model(a, b)
            loss = nn.functional.cross_entropy(logits, y)
            loss.backward()
            opt.step()
            sched.step()
            opt.zero_grad()
            hits += (logits.argmax(-1) == y).sum().item()
            n += len(y)
        if accel.is_main:
            log.info("epoch %d acc %.3f", epoch, hits / n)
    accel.close()


if __name__ == "__main__":
    main()
