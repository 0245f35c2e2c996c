import argparse
import math

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler

from augment import TextureSet
from siamese import TwinEncoder, collapse_level, symmetric_loss


def cosine(step, total, warm=10):
    if step < warm:
        return (step + 1) / warm
    return 0.5 * (1 + math.cos(math.pi * (step - warm) / max(1, total - warm)))


def build(args):
    model = TwinEncoder(args.width, save_memory=args.save_memory)
    if args.sync_bn:
        model = torch.nn.SyncBatchNorm.convert_sync_batchnorm(model)
    model = DDP(model)
    decay, plain = [], []
    for name, parameter in model.named_parameters():
        (plain if parameter.ndim == 1 else decay).append(parameter)
    optimizer = torch.optim.SGD([{"params": decay, "weight_decay": 1e-4}, {"params": plain, "weight_decay": 0.0}],
                                lr=args.lr, momentum=0.9)
    return model, optimizer


def train_epoch(epoch, model, loader, optimizer, schedule, rank):
    loader.sampler.set_epoch(epoch)
    model.train()
    running, spread = 0.0, 0.0
    for a, b in loader:
        first = model(a)
        second = model(b)
        loss = symmetric_loss(first, second)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        running += loss.item()
        spread += collapse_level(first[1]).item()
    if rank == 0:
        n = len(loader)
        print(f"epoch {epoch}: loss {running / n:.4f} spread {spread / n:.4f} lr {schedule.get_last_lr()[0]:.4f}", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--width", type=int, default=16)
    parser.add_argument("--lr", type=float, default=0.05)
    parser.add_argument("--sync-bn", action="store_true")
    parser.add_argument("--save-memory", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--out", default="twin.pt")
    args = parser.parse_args()

    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(100 + rank)
    torch.set_num_threads(1)
    data = TextureSet()
    loader = DataLoader(data, args.batch, sampler=DistributedSampler(data), drop_last=True)
    model, optimizer = build(args)
    total = args.epochs * len(loader)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: cosine(step, total))
    for epoch in range(args.epochs):
        train_epoch(epoch, model, loader, optimizer, schedule, rank)
    if rank == 0:
        torch.save(model.module.stem.state_dict(), args.out)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
