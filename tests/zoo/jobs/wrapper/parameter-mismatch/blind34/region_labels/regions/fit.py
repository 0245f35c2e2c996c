import argparse
import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, TensorDataset

from .model import Classifier
from .records import LabelEncoder, export_csv, read_records

FEATURES = ("t", "h", "p", "w")


def tensors(records, encoder):
    x = torch.tensor([[float(r[f]) for f in FEATURES] for r in records])
    y = torch.tensor([encoder(r) for r in records])
    return TensorDataset((x - x.mean(0)) / x.std(0), y)


def evaluate(model, loader):
    model.eval()
    hits = torch.zeros(2)
    with torch.no_grad():
        for x, y in loader:
            hits += torch.tensor([float((model(x).argmax(1) == y).sum()), float(len(y))])
    dist.all_reduce(hits)
    model.train()
    return (hits[0] / hits[1]).item()


def worker(rank, world_size, args):
    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    os.environ.setdefault("MASTER_PORT", str(args.port))
    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=rank, world_size=world_size)
    torch.manual_seed(args.seed)
    records = read_records(export_csv(), rank, world_size)
    encoder = LabelEncoder(records, "city")
    data = tensors(records, encoder)
    loader = DataLoader(data, batch_size=args.batch_size, shuffle=True, drop_last=True)
    model = DDP(Classifier(len(FEATURES), args.hidden, len(encoder), args.dropout))
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        for x, y in loader:
            loss = F.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        acc = evaluate(model.module, loader)
        if rank == 0:
            print(f"epoch {epoch}: loss {loss.item():.3f} accuracy {acc:.3f}", flush=True)
    dist.destroy_process_group()


def main():
    p = argparse.ArgumentParser(prog="regions")
    p.add_argument("--nproc", type=int, default=2)
    p.add_argument("--port", type=int, default=29731)
    p.add_argument("--epochs", type=int, default=5)
    p.add_argument("--batch-size", type=int, default=20)
    p.add_argument("--hidden", type=int, default=48)
    p.add_argument("--dropout", type=float, default=0.1)
    p.add_argument("--lr", type=float, default=4e-3)
    p.add_argument("--seed", type=int, default=0)
    args = p.parse_args()
    mp.spawn(worker, args=(args.nproc, args), nprocs=args.nproc)


