import argparse
import copy
import os
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


class Patience:
    def __init__(self, patience, path, min_delta=1e-3):
        self.patience, self.path, self.min_delta = patience, path, min_delta
        self.best, self.bad, self.state = float("inf"), 0, None

    def update(self, value, model):
        if value < self.best - self.min_delta:
            self.best, self.bad = value, 0
            self.state = copy.deepcopy(model.state_dict())
            torch.save(self.state, self.path)
        else:
            self.bad += 1
        return self.bad >= self.patience


def customers(n, seed):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, 9, generator=g)
    y = ((x[:, 0] * x[:, 1] + x[:, 2]) + 0.8 * torch.randn(n, generator=g) > 0).long()
    return TensorDataset(x, y)


def validation_loss(model, loader):
    model.eval()
    total = 0.0
    with torch.no_grad():
        for x, y in loader:
            total += nn.functional.cross_entropy(model(x), y, reduction="sum").item()
    model.train()
    return total / len(loader.dataset)


def worker(rank, args):
    dist.init_process_group("gloo", init_method=f"file://{args.folder}/store", rank=rank, world_size=args.world)
    torch.manual_seed(1)
    torch.set_num_threads(1)
    train, valid = customers(400, 0), customers(200, 1)
    sampler = DistributedSampler(train)
    loader = DataLoader(train, 25, sampler=sampler)
    valid_loader = DataLoader(valid, 50)
    model = DDP(nn.Sequential(nn.Linear(9, 64), nn.ReLU(), nn.Dropout(0.2), nn.Linear(64, 2)))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=2)
    watcher = Patience(args.patience, args.output) if rank == 0 else None

    for epoch in range(args.max_epochs):
        sampler.set_epoch(epoch)
        for x, y in loader:
            loss = nn.functional.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        dist.barrier()
        message = [None, None]
        if rank == 0:
            value = validation_loss(model.module, valid_loader)
            message = [value, watcher.update(value, model.module)]
            print(f"epoch {epoch} validation {value:.4f} (best {watcher.best:.4f}, {watcher.bad} without gain)", flush=True)
        dist.broadcast_object_list(message, src=0)
        value, stop = message
        plateau.step(value)
        if stop:
            print(f"rank {rank} stops after epoch {epoch}", flush=True)
            break
    dist.barrier()
    best = torch.load(args.output)
    model.module.load_state_dict(best)
    check = torch.tensor([validation_loss(model.module, valid_loader)])
    gathered = [torch.zeros(1) for _ in range(args.world)]
    dist.all_gather(gathered, check)
    if rank == 0:
        print("final", [round(t.item(), 4) for t in gathered], flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--patience", type=int, default=4)
    ap.add_argument("--max-epochs", type=int, default=40)
    ap.add_argument("--world", type=int, default=2)
    ap.add_argument("--output", default="churn_best.pt")
    args = ap.parse_args()
    args.folder = tempfile.mkdtemp(prefix="churn")
    if os.path.exists(args.output):
        os.remove(args.output)
    mp.spawn(worker, args=(args,), nprocs=args.world)
