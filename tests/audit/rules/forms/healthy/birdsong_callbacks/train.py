import argparse
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler

from callbacks import CallbackList, EpochBookkeeping, ThroughputMeter
from clips import SpectrogramClips


def build_net(n_classes):
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, stride=2), nn.ReLU(),
        nn.Conv2d(16, 32, 3, stride=2), nn.ReLU(),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, n_classes),
    )


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--clips", required=True)
    ap.add_argument("--epochs", type=int, default=30)
    ap.add_argument("--batch", type=int, default=48)
    args = ap.parse_args()

    dist.init_process_group("nccl")
    local = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    device = torch.device("cuda", local)

    clips = SpectrogramClips(args.clips)
    loader = DataLoader(clips, batch_size=args.batch, num_workers=4, pin_memory=True,
                        sampler=DistributedSampler(clips, shuffle=True, seed=11), drop_last=True)
    model = DistributedDataParallel(build_net(clips.n_classes).to(device), device_ids=[local])
    opt = torch.optim.AdamW(model.parameters(), lr=3e-4)
    hooks = CallbackList([EpochBookkeeping(loader), ThroughputMeter()])

    for epoch in range(args.epochs):
        hooks.fire("on_epoch_start", epoch)
        for x, y in loader:
            opt.zero_grad(set_to_none=True)
            loss = nn.functional.cross_entropy(model(x.to(device)), y.to(device))
            loss.backward()
            opt.step()
            hooks.fire("on_step", len(x))
        hooks.fire("on_epoch_end", epoch)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
