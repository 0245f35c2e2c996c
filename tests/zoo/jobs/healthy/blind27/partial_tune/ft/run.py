import argparse
import contextlib
import os

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

from .model import Net, param_groups
from .textures import textures


def say(*text):
    if dist.get_rank() == 0:
        print(*text, flush=True)


def accuracy(model, data):
    loader = DataLoader(data, 128, sampler=DistributedSampler(data, shuffle=False))
    model.eval()
    t = torch.zeros(2)
    with torch.no_grad():
        for x, y in loader:
            t += torch.tensor([(model.module(x).argmax(1) == y).sum(), len(y)])
    dist.all_reduce(t)
    return (t[0] / t[1]).item()


def fit(net, train, test, groups, epochs, accumulate, cycle):
    model = DDP(net)
    sampler = DistributedSampler(train, seed=3)
    loader = DataLoader(train, 16, sampler=sampler)
    optimizer = torch.optim.AdamW(groups)
    schedule = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, T_0=cycle)
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        model.train()
        total, window = 0.0, []
        n = len(loader)
        for i, (x, y) in enumerate(loader):
            first = i - i % accumulate
            size = min(accumulate, n - first)
            last = i + 1 == first + size
            with contextlib.nullcontext() if last else model.no_sync():
                loss = F.cross_entropy(model(x), y)
                (loss / size).backward()
            total += loss.item()
            if last:
                optimizer.step()
                optimizer.zero_grad()
                schedule.step(epoch + (i + 1) / n)
        rates = [f"{g['lr']:.1e}" for g in optimizer.param_groups]
        say(f"  epoch {epoch} loss {total / n:.3f} test {accuracy(model, test):.3f} lr {rates}")
    return model.module


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--source-classes", type=int, default=6)
    ap.add_argument("--target-classes", type=int, default=4)
    ap.add_argument("--epochs", type=int, default=6)
    ap.add_argument("--accumulate", type=int, default=3)
    ap.add_argument("--frozen", type=int, default=1)
    ap.add_argument("--weights", default="source.pt")
    args = ap.parse_args()
    dist.init_process_group("gloo")
    torch.set_num_threads(1)
    torch.manual_seed(0)

    say("source task")
    net = Net(args.source_classes)
    fit(net, textures(1600, args.source_classes, 0, 1), textures(400, args.source_classes, 0, 2),
        net.parameters(), args.epochs, 1, args.epochs)
    if dist.get_rank() == 0:
        torch.save(net.state_dict(), args.weights + ".tmp")
        os.replace(args.weights + ".tmp", args.weights)
    dist.barrier()

    say("target task")
    net = Net(args.target_classes, args.frozen)
    own, saved = net.state_dict(), torch.load(args.weights)
    fits = {k: v for k, v in saved.items() if k in own and v.shape == own[k].shape}
    skipped = sorted(set(saved) - set(fits))
    if any(k.startswith("stages.") for k in skipped):
        raise RuntimeError(f"backbone weights do not fit: {skipped}")
    net.load_state_dict(fits, strict=False)
    say(f"{len(fits)} tensors loaded, fresh: {skipped}")
    fit(net, textures(500, args.target_classes, 0.4, 5), textures(400, args.target_classes, 0.4, 6),
        param_groups(net, 4e-3, 0.1), args.epochs, args.accumulate, 3)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
