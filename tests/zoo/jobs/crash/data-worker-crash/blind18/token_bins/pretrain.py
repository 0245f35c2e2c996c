import argparse
import logging
import os

import numpy as np
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader

from binfile import BinWriter, compact
from windows import Windows

log = logging.getLogger("pretrain")


class TinyLM(nn.Module):
    def __init__(self, vocab, dim):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.rnn = nn.GRU(dim, dim, batch_first=True)
        self.head = nn.Linear(dim, vocab)

    def forward(self, x):
        return self.head(self.rnn(self.emb(x))[0])


def tokenize(path, n, vocab, seed):
    rng = np.random.default_rng(seed)
    w = BinWriter(path)
    for _ in range(n):
        w.add(rng.integers(1, vocab, 4096))
    w.close()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--vocab", type=int, default=256)
    ap.add_argument("--block", type=int, default=63)
    ap.add_argument("--batch", type=int, default=16)
    ap.add_argument("--steps", type=int, default=400)
    ap.add_argument("--chunks", type=int, default=40)
    ap.add_argument("--out", default="bins")
    a = ap.parse_args()
    logging.basicConfig(level=logging.INFO)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(11)
    os.makedirs(a.out, exist_ok=True)
    path = os.path.join(a.out, f"shard_{rank:02d}.bin")
    tokenize(path, a.chunks, a.vocab, rank)

    data = Windows(path, a.block)
    loader = DataLoader(data, a.batch, num_workers=1, drop_last=True)
    if rank == 0:
        log.info("%d windows", len(data))
    dist.barrier()
    compact(path)

    model = DDP(TinyLM(a.vocab, 64))
    opt = torch.optim.AdamW(model.parameters(), lr=3e-3)
    step = 0
    while step < a.steps:
        for x, y in loader:
            loss = nn.functional.cross_entropy(model(x).flatten(0, 1), y.flatten())
            opt.zero_grad()
            loss.backward()
            opt.step()
            step += 1
            if step % 50 == 0 and rank == 0:
                log.info("step %d loss %.3f", step, loss.item())
            if step >= a.steps:
                break
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
