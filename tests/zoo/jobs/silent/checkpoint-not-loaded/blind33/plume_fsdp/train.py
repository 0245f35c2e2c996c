import argparse

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from checkpoint import CheckpointManager
from model import PlumeNet


def simulate(n, points=32, seed=0):
    g = torch.Generator().manual_seed(seed)
    x = torch.linspace(0, 1, points)
    centre, width = torch.rand(n, 2, 1, generator=g), 0.05 + 0.1 * torch.rand(n, 2, 1, generator=g)
    conc = torch.exp(-((x - centre) / width) ** 2).sum(1)
    wind = torch.cos(2 * torch.pi * (x + torch.rand(n, 1, generator=g))) * torch.rand(n, 1, generator=g)
    out = conc.clone()
    for _ in range(8):
        flux = out * wind
        out = out - 0.1 * (flux - flux.roll(1, 1)) + 0.08 * (out.roll(1, 1) - 2 * out + out.roll(-1, 1))
    return TensorDataset(conc, wind, out)


@torch.no_grad()
def validate(model, loader):
    model.eval()
    err, ref = torch.zeros(()), torch.zeros(())
    for conc, wind, target in loader:
        err += (model(conc, wind) - target).square().sum()
        ref += (target - conc).square().sum()
    model.train()
    dist.all_reduce(err)
    dist.all_reduce(ref)
    return (err / ref).sqrt().item()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--stop-epoch", type=int, default=8)
    p.add_argument("--epochs", type=int, default=8)
    p.add_argument("--batch-size", type=int, default=32)
    p.add_argument("--lr", type=float, default=2e-3)
    p.add_argument("--folder", default="ckpt")
    p.add_argument("--resume", action="store_true")
    args = p.parse_args()

    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(0)
    mesh = init_device_mesh("cpu", (world,))
    model = PlumeNet()
    for block in model.blocks:
        fully_shard(block, mesh=mesh)
    fully_shard(model, mesh=mesh)

    train_set, val_set = simulate(2048, seed=1), simulate(256, seed=2)
    sampler = DistributedSampler(train_set, seed=7, drop_last=True)
    loader = DataLoader(train_set, args.batch_size, sampler=sampler, drop_last=True)
    val_loader = DataLoader(val_set, 64, sampler=DistributedSampler(val_set, shuffle=False))
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr, betas=(0.9, 0.999), weight_decay=1e-4)
    total = args.epochs * len(loader)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, total, eta_min=args.lr * 0.05)
    manager = CheckpointManager(args.folder, model, optimizer, scheduler)

    step = 0
    if args.resume and manager.latest() is not None:
        step = manager.load(manager.latest())
        if rank == 0:
            print(f"resumed at step {step}, lr {scheduler.get_last_lr()[0]:.2e}")
    for epoch in range(step // len(loader), min(args.stop_epoch, args.epochs)):
        sampler.set_epoch(epoch)
        running = 0.0
        for conc, wind, target in loader:
            optimizer.zero_grad()
            loss = F.mse_loss(model(conc, wind), target)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            scheduler.step()
            running += loss.item()
            step += 1
        error = validate(model, val_loader)
        if rank == 0:
            print(f"epoch {epoch} step {step} loss {running / len(loader):.5f} val rel err {error:.4f}", flush=True)
        manager.save(step)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
