import argparse
import tempfile

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader

from ws.pipeline import Resampled
from ws.shards import write_shards


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--shards", type=int, default=3)
    p.add_argument("--workers", type=int, default=2)
    p.add_argument("--steps-per-epoch", type=int, default=25)
    p.add_argument("--epochs", type=int, default=3)
    args = p.parse_args()
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    box = [tempfile.mkdtemp(prefix="shards-") if rank == 0 else None]
    dist.broadcast_object_list(box)
    if rank == 0:
        write_shards(box[0], args.shards, 80)
    dist.barrier()
    loader = DataLoader(Resampled(box[0], rank, world), batch_size=16, num_workers=args.workers, persistent_workers=True)
    model = DDP(nn.Sequential(nn.Conv2d(3, 12, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(48, 6)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(args.epochs):
        for step, (images, labels) in enumerate(loader):
            if step == args.steps_per_epoch:
                break
            loss = nn.functional.cross_entropy(model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if rank == 0:
            print(f"epoch {epoch}: loss {loss.item():.3f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
