import argparse
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from nodes import Node, stage


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--src", default="/nfs/sets/waves.pt")
    ap.add_argument("--scratch", default="/scratch/waves")
    ap.add_argument("--epochs", type=int, default=15)
    a = ap.parse_args()
    local = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    dist.init_process_group("nccl")
    node = Node()
    path = node.share(lambda: stage(a.src, a.scratch))
    blob = torch.load(path, map_location="cpu", mmap=True, weights_only=True)
    ds = TensorDataset(blob["x"], blob["y"])
    order = DistributedSampler(ds, seed=4)
    loader = DataLoader(ds, 128, sampler=order, pin_memory=True)
    torch.manual_seed(4)
    net = nn.Sequential(nn.Conv1d(1, 64, 9, 4), nn.ReLU(), nn.Conv1d(64, 64, 9, 4), nn.ReLU(), nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(64, 12))
    net = DistributedDataParallel(net.cuda(), device_ids=[local])
    opt = torch.optim.AdamW(net.parameters(), 1e-3)
    for epoch in range(a.epochs):
        order.set_epoch(epoch)
        for x, y in loader:
            loss = nn.functional.cross_entropy(net(x.cuda(non_blocking=True)), y.cuda(non_blocking=True))
            opt.zero_grad(set_to_none=True)
            loss.backward()
            opt.step()
    if dist.get_rank() == 0:
        torch.save(net.module.state_dict(), "waves_net.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
