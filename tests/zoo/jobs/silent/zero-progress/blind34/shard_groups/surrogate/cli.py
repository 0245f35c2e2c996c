import argparse

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
import torch.nn.functional as F
from torch.distributed.checkpoint.state_dict import get_model_state_dict
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from .model import Surrogate
from .optim import build_optimizer, build_scheduler
from .parallelize import parallelize


def field_data(n, seed):
    g = torch.Generator().manual_seed(seed)
    x = torch.rand(n, 6, generator=g)
    y = torch.stack([torch.sin(3 * x[:, 0]) * x[:, 1], x[:, 2] * x[:, 3] - x[:, 4]], 1)
    return TensorDataset(x, y)


@torch.no_grad()
def validate(model, loader):
    model.eval()
    acc = torch.zeros(2)
    for x, y in loader:
        acc += torch.tensor([F.mse_loss(model(x), y, reduction="sum").item(), y.numel()])
    dist.all_reduce(acc)
    model.train()
    return (acc[0] / acc[1]).item()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=4)
    p.add_argument("--batch-size", type=int, default=32)
    p.add_argument("--lr", type=float, default=2e-3)
    p.add_argument("--weight-decay", type=float, default=0.05)
    p.add_argument("--checkpoint", default="ckpt")
    args = p.parse_args()
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(0)

    train, valid = field_data(1024, 1), field_data(256, 2)
    sampler = DistributedSampler(train)
    loader = DataLoader(train, args.batch_size, sampler=sampler, drop_last=True)
    valid_loader = DataLoader(valid, 64, sampler=DistributedSampler(valid, shuffle=False))

    model = Surrogate(6, 48, 3, 2)
    optimizer = build_optimizer(model, args.lr, args.weight_decay)
    scheduler = build_scheduler(optimizer, 10, args.epochs * len(loader))
    model = parallelize(model, world)

    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        for x, y in loader:
            loss = F.mse_loss(model(x), y)
            loss.backward()
            norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 10.0)
            optimizer.step()
            scheduler.step()
            model.zero_grad()
        score = validate(model, valid_loader)
        if rank == 0:
            print(f"epoch {epoch} train {loss.item():.4f} valid {score:.4f} lr {scheduler.get_last_lr()[0]:.5f}", flush=True)
    dcp.save({"model": get_model_state_dict(model)}, checkpoint_id=args.checkpoint)
    if rank == 0:
        print("training finished", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
