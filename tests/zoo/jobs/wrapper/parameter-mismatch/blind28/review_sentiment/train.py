import argparse
import logging
import os
from pathlib import Path

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader

from corpus import read_dump, write_dump
from model import SentimentNet
from text import Reviews, Vocabulary

log = logging.getLogger("sentiment")


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--dump", type=Path, default=Path("reviews.tsv"))
    p.add_argument("--reviews", type=int, default=1600)
    p.add_argument("--epochs", type=int, default=2)
    p.add_argument("--batch-size", type=int, default=32)
    p.add_argument("--lr", type=float, default=2e-3)
    p.add_argument("--min-count", type=int, default=8)
    p.add_argument("--seed", type=int, default=11)
    return p.parse_args()


def prepare(args, rank, world):
    """Every rank reads its share of the dump: the real one does not fit a single host."""
    if rank == 0:
        write_dump(args.dump, args.reviews, args.seed)
    dist.barrier()
    rows = read_dump(args.dump, start=rank, step=world)
    vocabulary = Vocabulary(args.min_count).build(rows)
    log.info("%d reviews, %d words", len(rows), len(vocabulary))
    return Reviews(rows, vocabulary), vocabulary


def run_epoch(model, loader, optimizer, criterion):
    total, seen = torch.zeros(1), 0
    for tokens, labels in loader:
        loss = criterion(model(tokens), labels)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        total += loss.detach() * len(labels)
        seen += len(labels)
    return (total / seen).item()


def main():
    args = parse()
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    logging.basicConfig(level=logging.INFO, format=f"%(asctime)s [{rank}] %(message)s")
    torch.manual_seed(args.seed)

    data, vocabulary = prepare(args, rank, world)
    loader = DataLoader(data, batch_size=args.batch_size, shuffle=True, drop_last=True)
    model = DDP(SentimentNet(len(vocabulary)))
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
    criterion = torch.nn.CrossEntropyLoss()

    for epoch in range(args.epochs):
        loss = run_epoch(model, loader, optimizer, criterion)
        mean = torch.tensor(loss)
        dist.all_reduce(mean)
        if rank == 0:
            log.info("epoch %d loss %.4f", epoch, mean.item() / world)
            torch.save({"model": model.module.state_dict(), "words": vocabulary.index}, "sentiment.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
