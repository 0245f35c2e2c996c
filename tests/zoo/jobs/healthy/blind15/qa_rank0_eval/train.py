import argparse
import logging

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from evaluation import Referee


class Copier(nn.Module):
    def __init__(self, vocab=20, dim=48, length=6):
        super().__init__()
        self.tok, self.pos = nn.Embedding(vocab, dim), nn.Parameter(0.1 * torch.randn(length, dim))
        self.layer = nn.TransformerEncoderLayer(dim, 4, 96, 0.1, batch_first=True)
        self.out = nn.Linear(dim, vocab)

    def forward(self, x):
        return self.out(self.layer(self.tok(x) + self.pos))


def task(n, seed):
    x = torch.randint(0, 20, (n, 6), generator=torch.Generator().manual_seed(seed))
    return x, x.flip(1)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=14)
    p.add_argument("--patience", type=int, default=1)
    p.add_argument("--pause", type=float, default=0.2)
    a = p.parse_args()
    dist.init_process_group("gloo")
    logging.basicConfig(level=logging.INFO, format=f"[{dist.get_rank()}] %(message)s")
    torch.manual_seed(0)
    data = TensorDataset(*task(1600, 1))
    sampler = DistributedSampler(data)
    loader = DataLoader(data, 16, sampler=sampler)
    model = DistributedDataParallel(Copier())
    opt = torch.optim.Adam(model.parameters(), 3e-3)
    referee = Referee(*task(512, 2), a.patience, a.pause)
    for epoch in range(a.epochs):
        sampler.set_epoch(epoch)
        for x, y in loader:
            loss = nn.functional.cross_entropy(model(x).flatten(0, 1), y.flatten())
            opt.zero_grad()
            loss.backward()
            opt.step()
        if referee.verdict(model, epoch):
            break
    dist.barrier()
    model.module.load_state_dict(torch.load("best.pt"))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
