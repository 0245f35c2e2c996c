import argparse
import os
import tempfile

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

torch.set_num_threads(1)


def tone_data(n, seed, shift=0.0):
    g = torch.Generator().manual_seed(seed)
    w = torch.randn(32, 4, generator=torch.Generator().manual_seed(6))
    x = torch.randn(n, 32, generator=g)
    return TensorDataset(x, (torch.tanh(x @ w) + shift * x[:, :4]).float())


def make_model():
    return nn.Sequential(nn.Linear(32, 96), nn.Tanh(), nn.Linear(96, 4))


def pretrained_file(folder):
    """Stands for the published weights."""
    path = os.path.join(folder, "tones-base.pt")
    if dist.get_rank() == 0:
        torch.manual_seed(0)
        model = make_model()
        opt = torch.optim.Adam(model.parameters(), lr=3e-3)
        for _ in range(3):
            for x, y in DataLoader(tone_data(2000, 0), batch_size=50):
                opt.zero_grad()
                nn.functional.mse_loss(model(x), y).backward()
                opt.step()
        torch.save({"model": model.state_dict(), "step": 120}, path)
    dist.barrier()
    return path


def load_checkpoint(model, path, is_main):
    if is_main:
        state = torch.load(path, map_location="cpu")
        model.module.load_state_dict(state["model"])
        print(f"loaded {path} at step {state['step']}")
    dist.barrier()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=6)
    ap.add_argument("--batch-size", type=int, default=25)
    ap.add_argument("--lr", type=float, default=0.02)
    ap.add_argument("--no-init", action="store_true")
    args = ap.parse_args()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    folder = [tempfile.mkdtemp() if rank == 0 else None]
    dist.broadcast_object_list(folder)
    path = pretrained_file(folder[0])
    torch.manual_seed(100 + rank)
    model = DDP(make_model())
    if not args.no_init:
        load_checkpoint(model, path, is_main=rank == 0)
    data = tone_data(2000, 1, shift=0.5)
    sampler = DistributedSampler(data, seed=5)
    loader = DataLoader(data, args.batch_size, sampler=sampler)
    opt = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9)
    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        total = torch.zeros(1)
        for x, y in loader:
            loss = nn.functional.mse_loss(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.detach() / len(loader)
        dist.all_reduce(total)
        if rank == 0:
            print(f"epoch {epoch} mse {total.item() / dist.get_world_size():.4f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
