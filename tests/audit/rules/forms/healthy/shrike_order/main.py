import argparse

import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel

import launch
from data import Data


def build(inputs, classes):
    return nn.Sequential(nn.Linear(inputs, 1024), nn.GELU(), nn.Dropout(0.1), nn.Linear(1024, 1024), nn.GELU(), nn.Linear(1024, classes))


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--data", default="events.pt")
    ap.add_argument("--batch", type=int, default=512)
    ap.add_argument("--epochs", type=int, default=20)
    ap.add_argument("--lr", type=float, default=2e-3)
    args = ap.parse_args()
    world = launch.begin()
    data = Data(args.data, args.batch)
    torch.manual_seed(1)
    net = build(data.inputs, data.classes).to(world.device)
    if world.size > 1:
        net = DistributedDataParallel(net, device_ids=[world.device.index])
    opt = torch.optim.AdamW(net.parameters(), lr=args.lr)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, args.epochs)
    for n in range(args.epochs):
        for x, y in data.epoch(n):
            loss = nn.functional.cross_entropy(net(x.to(world.device, non_blocking=True)), y.to(world.device, non_blocking=True))
            opt.zero_grad(set_to_none=True)
            loss.backward()
            opt.step()
        sched.step()
    if world.chief:
        torch.save(getattr(net, "module", net).state_dict(), "events_net.pt")
    launch.end()


if __name__ == "__main__":
    main()
