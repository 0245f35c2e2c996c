import argparse
import os
import socket
import time

import numpy as np
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP

from lm.corpus import VOCAB, Corpus, Windows, documents
from lm.net import GRULM


def batch_loss(model, batch):
    x, y = (torch.from_numpy(a) for a in batch)
    return F.cross_entropy(model(x).flatten(0, 1), y.flatten())


def train_epoch(model, opt, windows, args, rank, epoch):
    model.train()
    rng = np.random.default_rng((args.seed, epoch, rank))
    for step in range(args.steps):
        loss = batch_loss(model, windows.train_batch(args.batch_size, rng))
        opt.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        if rank == 0 and (step + 1) % 20 == 0:
            print(f"epoch {epoch} step {step + 1} loss {loss.item():.3f}", flush=True)


@torch.no_grad()
def evaluate(net, windows, args):
    net.eval()
    total = torch.zeros(2)
    for batch in windows.val_batches(args.batch_size, args.val_batches):
        total += torch.tensor([batch_loss(net, batch).item(), 1.0])
    return total


def finish_epoch(net, windows, corpus, args, rank, epoch):
    """The helpers evaluate; rank 0 meanwhile writes weights and packs the corpus for the next epoch."""
    if rank == 0:
        torch.save(net.state_dict(), os.path.join(args.out, f"epoch{epoch}.pt"))
        began = time.time()
        corpus.pack(seed=args.seed + epoch + 1)
        print(f"epoch {epoch}: packed in {time.time() - began:.1f}s", flush=True)
        total = torch.zeros(2)
    else:
        total = evaluate(net, windows, args)
    dist.all_reduce(total)
    return (total[0] / total[1]).item()


def worker(rank, args):
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{args.port}", rank=rank, world_size=args.nprocs)
    torch.set_num_threads(1)
    corpus = Corpus(documents(args.documents, args.seed), os.path.join(args.out, "tokens.bin"))
    if rank == 0:
        corpus.pack(seed=args.seed)
    dist.barrier()
    windows = Windows(corpus.path, args.length)
    torch.manual_seed(args.seed)
    net = GRULM(VOCAB)
    model = DDP(net)
    opt = torch.optim.AdamW(model.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        train_epoch(model, opt, windows, args, rank, epoch)
        val = finish_epoch(net, windows, corpus, args, rank, epoch)
        if rank == 0:
            print(f"epoch {epoch}: validation {val:.3f}", flush=True)
    dist.destroy_process_group()


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def main():
    p = argparse.ArgumentParser("lm")
    p.add_argument("--out", default="work")
    p.add_argument("--nprocs", type=int, default=2)
    p.add_argument("--documents", type=int, default=60000)
    p.add_argument("--length", type=int, default=32)
    p.add_argument("--batch-size", type=int, default=16)
    p.add_argument("--steps", type=int, default=60)
    p.add_argument("--val-batches", type=int, default=60)
    p.add_argument("--epochs", type=int, default=3)
    p.add_argument("--lr", type=float, default=3e-3)
    p.add_argument("--seed", type=int, default=5)
    args = p.parse_args()
    args.port = free_port()
    os.makedirs(args.out, exist_ok=True)
    mp.spawn(worker, args=(args,), nprocs=args.nprocs)

