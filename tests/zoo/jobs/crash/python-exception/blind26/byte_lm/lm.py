import argparse
import logging
import shutil
from pathlib import Path

import numpy as np
import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel

from prepare import tokenize_corpus


class Blocks(torch.utils.data.Dataset):
    def __init__(self, path, block):
        self.tokens = np.load(path, mmap_mode="r")
        self.block = block

    def __len__(self):
        return (len(self.tokens) - 1) // self.block

    def __getitem__(self, i):
        chunk = torch.from_numpy(self.tokens[i * self.block:(i + 1) * self.block + 1].astype(np.int64))
        return chunk[:-1], chunk[1:]


class LM(nn.Module):
    def __init__(self, vocab=512, dim=32):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.rnn = nn.LSTM(dim, dim, batch_first=True)
        self.head = nn.Linear(dim, vocab)
        self.head.weight = self.embed.weight

    def forward(self, x):
        return self.head(self.rnn(self.embed(x))[0])


def build_dataset(args, rank):
    cache = Path(args.cache_dir) / "corpus.npy"
    if args.overwrite_cache and rank == 0:
        shutil.rmtree(args.cache_dir, ignore_errors=True)
    if rank == 0 and not cache.exists():
        tokenize_corpus(cache)
    return Blocks(cache, args.block)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--cache-dir", default="cache")
    ap.add_argument("--overwrite-cache", action="store_true")
    ap.add_argument("--block", type=int, default=32)
    ap.add_argument("--steps", type=int, default=60)
    args = ap.parse_args()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    logging.basicConfig(level=logging.INFO, format=f"%(asctime)s r{rank} %(name)s: %(message)s")
    torch.manual_seed(1)

    dataset = build_dataset(args, rank)
    sampler = torch.utils.data.DistributedSampler(dataset, seed=3)
    loader = torch.utils.data.DataLoader(dataset, batch_size=16, sampler=sampler, drop_last=True)
    model = DistributedDataParallel(LM())
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for step, (x, y) in zip(range(args.steps), loader):
        loss = nn.functional.cross_entropy(model(x).flatten(0, 1), y.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            logging.info("step %d loss %.4f", step, loss.item())
    if rank == 0:
        torch.save(model.module.state_dict(), "lm.pt")
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
