import argparse
import logging

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from cachelib import Compactor
from corpus import Phrases, make_loader


class Duration(nn.Module):
    def __init__(self, symbols=40, dim=48):
        super().__init__()
        self.emb = nn.Embedding(symbols, dim)
        self.conv = nn.Conv1d(dim, dim, 3, padding=1)
        self.out = nn.Linear(dim, 1)

    def forward(self, ids):
        h = torch.relu(self.conv(self.emb(ids).transpose(1, 2)))
        return self.out(h.mean(-1)).squeeze(-1)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--batch", type=int, default=8)
    ap.add_argument("--workers", type=int, default=1)
    ap.add_argument("--epochs", type=int, default=5)
    ap.add_argument("--compact-every", type=float, default=0.05)
    cfg = ap.parse_args()
    dist.init_process_group("gloo")
    logging.basicConfig(level=logging.INFO)
    torch.manual_seed(0)
    data = Phrases()
    loader, sampler = make_loader(data, cfg)
    model = DDP(Duration())
    opt = torch.optim.Adam(model.parameters(), 2e-3)
    for epoch in range(cfg.epochs):
        sampler.set_epoch(epoch)
        for ids, y in loader:
            loss = (model(ids) - y / 20).square().mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        if dist.get_rank() == 0:
            logging.info("epoch %d loss %.4f", epoch, loss.item())
        if epoch == 1:
            data.warm()
            Compactor(data.cache, cfg.compact_every).start()
            dist.barrier()
            probe = [model.module(data[i][0][None]).item() for i in range(40)]
            logging.info("probe %.3f", sum(probe) / len(probe))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
