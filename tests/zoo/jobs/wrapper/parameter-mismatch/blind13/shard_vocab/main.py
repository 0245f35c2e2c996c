import argparse
import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.nn.parallel import DistributedDataParallel as DDP

from model import Bow
from text import Corpus, Vocab, lines


def prepare(rank, world):
    corpus = Corpus(lines(), rank, world)
    vocab = Vocab(corpus.counts())
    ids = torch.tensor([vocab.encode(r) for r in corpus.rows])
    return ids, (ids.sum(1) % 2), vocab


def run(rank, world, port, epochs):
    os.environ["MASTER_ADDR"], os.environ["MASTER_PORT"] = "127.0.0.1", str(port)
    dist.init_process_group("gloo", rank=rank, world_size=world)
    ids, labels, vocab = prepare(rank, world)
    torch.manual_seed(0)
    model = DDP(Bow(len(vocab)))
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(epochs):
        for i in range(0, len(ids), 20):
            loss = torch.nn.functional.cross_entropy(model(ids[i:i + 20]), labels[i:i + 20])
            opt.zero_grad()
            loss.backward()
            opt.step()
        print(f"[{rank}] epoch {epoch} {loss.item():.3f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--nproc", type=int, default=2)
    p.add_argument("--port", type=int, default=29611)
    p.add_argument("--epochs", type=int, default=5)
    a = p.parse_args()
    mp.spawn(run, (a.nproc, a.port, a.epochs), nprocs=a.nproc)
