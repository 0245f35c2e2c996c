import argparse
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from share import keep, restore


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--folder", default="rook")
    ap.add_argument("--epochs", type=int, default=40)
    args = ap.parse_args()
    dist.init_process_group("gloo")
    torch.set_num_threads(max(1, (os.cpu_count() or 1) // int(os.environ.get("LOCAL_WORLD_SIZE", "1"))))
    torch.manual_seed(30)
    blob = torch.load("sensors.pt", weights_only=True)
    ds = TensorDataset(blob["x"], blob["y"])
    order = DistributedSampler(ds)
    loader = DataLoader(ds, 64, sampler=order)
    core = nn.Sequential(nn.Linear(blob["x"].size(1), 128), nn.Tanh(), nn.Linear(128, 3))
    net = DistributedDataParallel(core)
    opt = torch.optim.Adam(net.parameters(), lr=5e-4)
    first = restore(core, opt, args.folder)
    for epoch in range(first, args.epochs):
        order.set_epoch(epoch)
        for x, y in loader:
            loss = nn.functional.cross_entropy(net(x), y)
            opt.zero_grad(set_to_none=True)
            loss.backward()
            opt.step()
        keep(core, opt, epoch, args.folder)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
