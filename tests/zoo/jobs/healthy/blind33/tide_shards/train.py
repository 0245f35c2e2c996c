import argparse
import os

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
import torch.nn.functional as F
from torch import nn
from torch.distributed.checkpoint.state_dict import get_state_dict, set_state_dict
from torch.distributed.fsdp import fully_shard
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


class Block(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))

    def forward(self, x):
        return x + self.mlp(self.norm(x))


class TideNet(nn.Module):
    def __init__(self, past=48, ahead=12, dim=48, depth=2):
        super().__init__()
        self.inp, self.out = nn.Linear(past, dim), nn.Linear(dim, ahead)
        self.blocks = nn.ModuleList(Block(dim) for _ in range(depth))

    def forward(self, x):
        h = self.inp(x)
        for block in self.blocks:
            h = block(h)
        return self.out(h)


def gauges(n, seed, past=48, ahead=12):
    g = torch.Generator().manual_seed(seed)
    t = torch.arange(past + ahead) / 12.42
    phase, amp = torch.rand(n, 3, 1, generator=g) * 6.28, torch.rand(n, 3, 1, generator=g)
    speed = torch.tensor([1.0, 0.93, 0.52]).view(1, 3, 1)
    h = (amp * torch.cos(6.28 * speed * t + phase)).sum(1) + 0.05 * torch.randn(n, past + ahead, generator=g)
    return TensorDataset(h[:, :past], h[:, past:])


def save(folder, model, optimizer, scheduler, epoch):
    model_state, optim_state = get_state_dict(model, optimizer)
    state = {"model": model_state, "optim": optim_state, "scheduler": scheduler.state_dict(), "epoch": epoch}
    dcp.save(state, checkpoint_id=os.path.join(folder, f"epoch_{epoch}"))


def load(folder, model, optimizer, scheduler):
    last = max(int(d.split("_")[1]) for d in os.listdir(folder))
    model_state, optim_state = get_state_dict(model, optimizer)
    state = {"model": model_state, "optim": optim_state, "scheduler": scheduler.state_dict(), "epoch": 0}
    dcp.load(state, checkpoint_id=os.path.join(folder, f"epoch_{last}"))
    set_state_dict(model, optimizer, model_state_dict=state["model"], optim_state_dict=state["optim"])
    scheduler.load_state_dict(state["scheduler"])
    return state["epoch"]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=6)
    p.add_argument("--stop", type=int, default=6)
    p.add_argument("--resume", action="store_true")
    p.add_argument("--folder", default="ckpt")
    args = p.parse_args()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    model = TideNet()
    for block in model.blocks:
        fully_shard(block)
    fully_shard(model)
    data = gauges(1024, 1)
    sampler = DistributedSampler(data, drop_last=True)
    loader = DataLoader(data, 32, sampler=sampler, drop_last=True)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, args.epochs * len(loader), eta_min=1e-4)
    start = load(args.folder, model, optimizer, scheduler) if args.resume else 0
    for epoch in range(start, args.stop):
        sampler.set_epoch(epoch)
        total = 0.0
        for past, ahead in loader:
            optimizer.zero_grad()
            loss = F.mse_loss(model(past), ahead)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            scheduler.step()
            total += loss.item()
        if rank == 0:
            print(f"epoch {epoch} loss {total / len(loader):.4f} lr {scheduler.get_last_lr()[0]:.2e}", flush=True)
        save(args.folder, model, optimizer, scheduler, epoch + 1)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
