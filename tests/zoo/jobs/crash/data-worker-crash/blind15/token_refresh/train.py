import argparse
import logging

import numpy as np
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler

from scoring import Surprise
from tokens import Documents, produce, prune

log = logging.getLogger("lm")


class LM(nn.Module):
    def __init__(self, vocab=64, dim=48):
        super().__init__()
        self.embed, self.rnn, self.out = nn.Embedding(vocab, dim), nn.GRU(dim, dim, batch_first=True), nn.Linear(dim, vocab)

    def forward(self, x):
        return self.out(self.rnn(self.embed(x))[0])


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--tokens", default="train.bin")
    p.add_argument("--documents", type=int, default=1600)
    p.add_argument("--epochs", type=int, default=3)
    p.add_argument("--prune-after", type=int, default=0)
    p.add_argument("--keep", type=float, default=0.6)
    a = p.parse_args()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    logging.basicConfig(level=logging.INFO, format=f"[{rank}] %(message)s")
    if rank == 0:
        produce(a.tokens, a.documents)
    dist.barrier()
    torch.manual_seed(0)
    data = Documents(a.tokens, a.documents)
    sampler = DistributedSampler(data)
    loader = DataLoader(data, 16, sampler=sampler, num_workers=1, persistent_workers=True)
    model = DistributedDataParallel(LM())
    opt = torch.optim.AdamW(model.parameters(), 3e-3)
    surprise = Surprise(a.documents)
    for epoch in range(a.epochs):
        sampler.set_epoch(epoch)
        order = list(iter(sampler))
        for i, (x, y) in enumerate(loader):
            loss = nn.functional.cross_entropy(model(x).flatten(0, 1), y.flatten())
            opt.zero_grad()
            loss.backward()
            opt.step()
            surprise.add(order[16 * i:16 * i + len(x)], loss.item())
        log.info("epoch %d loss %.3f", epoch, loss.item())
        if epoch == a.prune_after:
            if rank == 0:
                kept = prune(a.tokens, surprise.scores(np.random.default_rng(0)), int(a.keep * a.documents))
                log.info("kept %d documents", kept)
            dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
