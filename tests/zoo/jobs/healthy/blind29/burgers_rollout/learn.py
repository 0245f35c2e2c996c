import argparse
import copy
import os
import socket
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

from solver import burgers


class Stepper(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        conv = lambda i, o: nn.Conv1d(i, o, 5, padding=2, padding_mode="circular")  # noqa: E731
        self.net = nn.Sequential(conv(1, width), nn.GELU(), conv(width, width), nn.GELU(), conv(width, 1))

    def forward(self, u):
        return u + 0.1 * self.net(u.unsqueeze(1)).squeeze(1)


class Patience:
    """Counts epochs without a better value; all ranks are given the same value."""

    def __init__(self, epochs):
        self.epochs, self.best, self.waited = epochs, float("inf"), 0

    def update(self, value):
        better = value < self.best
        self.waited = 0 if better else self.waited + 1
        self.best = min(self.best, value)
        return better, self.waited >= self.epochs


@torch.no_grad()
def rollout_error(model, trajectories, steps=8):
    model.eval()
    u, errors = trajectories[:, 0], []
    for k in range(1, steps + 1):
        u = model(u)
        errors.append((u - trajectories[:, k]).norm(dim=1) / trajectories[:, k].norm(dim=1))
    model.train()
    return torch.stack(errors).mean(0)


def train_step(model, u, optimizer, unroll):
    """One step with the pushforward trick: only the last of the unrolled steps has a gradient."""
    start = int(torch.randint(0, u.shape[1] - unroll - 1, ()))
    x = u[:, start]
    with torch.no_grad():
        for _ in range(unroll):
            x = model.module(x)
    loss = (model(x) - u[:, start + unroll + 1]).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return loss.item()


def agree(flag):
    vote = torch.tensor(int(flag))
    dist.broadcast(vote, src=0)
    return bool(vote)


def run(rank, world, port, args, folder):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    dist.init_process_group("gloo", rank=rank, world_size=world)
    torch.set_num_threads(1)
    torch.manual_seed(args.seed + rank)
    data = burgers(384, seed=1)
    train, held = TensorDataset(data[:320]), data[320:]
    sampler = DistributedSampler(train, world, rank)
    loader = DataLoader(train, args.batch_size, sampler=sampler, drop_last=True)
    model = DDP(Stepper())
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    patience, best = Patience(args.patience), None
    path = os.path.join(folder, "best.pt")
    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        unroll = 0 if epoch < args.warm_epochs else 1
        loss = sum(train_step(model, u, optimizer, unroll) for (u,) in loader) / len(loader)
        errors = rollout_error(model.module, held[rank::world])
        mean = torch.tensor([errors.sum(), len(errors)])
        dist.all_reduce(mean)
        value = (mean[0] / mean[1]).item()
        better, over = patience.update(value)
        if better:
            best = copy.deepcopy(model.module.state_dict())
            dist.barrier()
            if rank == 0:
                torch.save(best, path)
            dist.barrier()
        if rank == 0:
            print(f"epoch {epoch:2d} unroll {unroll} loss {loss:.6f} rollout error {value:.4f}", flush=True)
        if agree(over):
            break
    model.module.load_state_dict(torch.load(path))
    final = rollout_error(model.module, held, steps=16).mean()
    if rank == 0:
        print(f"stopped after epoch {epoch}, best {patience.best:.4f}, 16 steps {final:.4f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=40)
    p.add_argument("--warm-epochs", type=int, default=4)
    p.add_argument("--patience", type=int, default=5)
    p.add_argument("--batch-size", type=int, default=16)
    p.add_argument("--lr", type=float, default=4e-3)
    p.add_argument("--seed", type=int, default=0)
    cli = p.parse_args()
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        free = s.getsockname()[1]
    with tempfile.TemporaryDirectory() as tmp:
        mp.spawn(run, args=(2, free, cli, tmp), nprocs=2)
