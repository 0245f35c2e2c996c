import argparse

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader

from pipe import PatchSource, Stream


def network(classes, w=12):
    return nn.Sequential(nn.Conv2d(3, w, 3, 2, 1), nn.ReLU(), nn.Conv2d(w, 2 * w, 3, 2, 1), nn.ReLU(),
                         nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(32 * w, classes))


def normalise(img, label):
    return (img - img.mean()) / (img.std() + 1e-5), label


def make_stream(source, args, rank, world):
    stream = Stream.from_source(source)
    if args.calibration:
        stream = stream.skip(args.calibration)
    return stream.shuffle(args.buffer, seed=17).map(normalise).split(rank, world)


def calibration_stats(source, n):
    vals = torch.stack([x for (x, _), _ in zip(source.read(0), range(n))])
    return vals.mean().item(), vals.std().item()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=8)
    p.add_argument("--steps-per-epoch", type=int, default=56)
    p.add_argument("--batch-size", type=int, default=16)
    p.add_argument("--buffer", type=int, default=64)
    p.add_argument("--calibration", type=int, default=32)
    p.add_argument("--lr", type=float, default=0.02)
    args = p.parse_args()
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(0)
    source = PatchSource()
    stream = make_stream(source, args, rank, world)
    model = DDP(network(source.classes))
    opt = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9)
    if rank == 0:
        print("calibration mean/std %.3f %.3f" % calibration_stats(source, args.calibration), flush=True)
    for epoch in range(args.epochs):
        stream.epoch = epoch
        seen = hits = 0
        for step, (x, y) in zip(range(args.steps_per_epoch), DataLoader(stream, batch_size=args.batch_size, drop_last=True)):
            out = model(x)
            loss = nn.functional.cross_entropy(out, y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            hits += (out.argmax(1) == y).sum().item()
            seen += len(y)
        t = torch.tensor([hits, seen])
        dist.all_reduce(t)
        if rank == 0:
            print(f"epoch {epoch} acc {t[0].item() / t[1].item():.3f} over {t[1].item()} samples", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
