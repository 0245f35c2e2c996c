import argparse

import torch
import torch.distributed as dist
from torch.distributed.checkpoint import load


def resume(net, optimizer, path):
    load({"net": net, "optimizer": optimizer}, checkpoint_id=path)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--resume")
    args = parser.parse_args()
    dist.init_process_group("nccl")
    net = torch.nn.Linear(8, 8)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    if args.resume:
        resume(net, optimizer, args.resume)
    for x in torch.load("data.pt"):
        net(x).mean().backward()
        optimizer.step()
